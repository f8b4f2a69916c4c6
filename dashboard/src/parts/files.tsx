import { useMemo } from 'preact/hooks'
import type { Envd } from '../api'
import type { PartProps } from './part'
import { Browser, type Place } from './browser'

interface EnvdEntry {
  name: string
  type: string
  path: string
  size?: string | number
  permissions: string
  owner: string
  modifiedTime: string
  symlinkTarget?: string
}

interface Change {
  filesystem?: object
}

/** The files of one sandbox. */
const placeOf = (envd: Envd): Place => ({
  home: '/home/user',
  list: async (path) => {
    const { entries = [] } = await envd.call<{ entries?: EnvdEntry[] }>('filesystem.Filesystem/ListDir', { path, depth: 1 })
    return entries.map((one) => ({
      name: one.name,
      path: one.path,
      isDirectory: one.type === 'FILE_TYPE_DIRECTORY',
      size: Number(one.size ?? 0),
      mode: one.permissions,
      owner: one.owner,
      changed: one.modifiedTime,
      target: one.symlinkTarget,
    }))
  },
  read: (path) => envd.file(path),
  write: (path, content) => envd.write(path, content),
  remove: (path) => envd.call('filesystem.Filesystem/Remove', { path }),
  makeDirectory: (path) => envd.call('filesystem.Filesystem/MakeDir', { path }),
  watch: async (path, changed, end) => {
    for await (const { filesystem } of envd.stream<Change>('filesystem.Filesystem/WatchDir', { path }, end)) {
      if (filesystem) changed()
    }
  },
})

export function Files({ envd }: PartProps) {
  const place = useMemo(() => placeOf(envd), [envd])
  return <Browser place={place} />
}
