import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { call, get, may, VolumeFiles } from '../api'
import { Field, FormDialog, text } from '../form'
import { Browser, type Place } from '../parts/browser'
import { go, href } from '../router'
import { Counts, each, Search, Table, useFilter } from '../table'
import { confirm, copy, Failed, Icon, Meter, size, useLoad } from '../ui'

interface Volume {
  volumeID: string
  name: string
  sizeMB: number
  usedMB?: number
}

interface Opened extends Volume {
  token: string
}

interface Stat {
  name: string
  type: string
  path: string
  size: number
  mode: number
  uid: number
  gid: number
  mtime: string
  target?: string
}

const WORDS: [string, string] = ['Volume', 'volumes']
const OWNERS: Record<number, string> = { 0: 'root', 1000: 'user' }
const megabytes = (count: number): string => size(count * 2 ** 20)

/** Gives whether they are gone. */
async function remove(volumes: Volume[]): Promise<boolean> {
  const what = volumes.length === 1 ? `volume ${volumes[0]!.name}` : `${volumes.length} volumes`
  if (!(await confirm(`Delete ${what}?`, 'All files in it are lost. This cannot be undone.', 'Delete'))) return false
  return each(volumes, WORDS, 'deleted', ({ volumeID }) => call('DELETE', '/volumes/' + volumeID))
}

export function Volumes() {
  const loaded = useLoad((end) => get<Volume[]>('/volumes', end), [], 10_000)
  const shown = useFilter(loaded.value, ({ name, volumeID }) => [name, volumeID])
  const creating = useSignal(false)
  const removeThem = async (volumes: Volume[]) => {
    await remove(volumes)
    loaded.reload()
  }
  return (
    <section>
      <header class="page">
        <h1>Volumes</h1>
        <Counts of={loaded.value} shown={shown} />
        {may.value.all && (
          <button type="button" class="primary" id="create" title="c" onClick={() => (creating.value = true)}>
            New volume
          </button>
        )}
      </header>
      <div class="filters" role="search">
        <Search placeholder="Search names and ids" />
      </div>
      <Table
        label="Volumes"
        rows={shown}
        error={loaded.error}
        id={({ volumeID }) => volumeID}
        columns={[
          { name: 'Name', class: 'wrap', cell: ({ volumeID, name }) => <a href={href('/volumes/' + volumeID)}>{name}</a> },
          { name: 'Id', class: 'wide mono dim', cell: ({ volumeID }) => volumeID },
          { name: 'Size', class: 'right num', cell: ({ sizeMB }) => megabytes(sizeMB) },
          {
            name: 'In use',
            class: 'mid share',
            cell: ({ usedMB, sizeMB }) => usedMB !== undefined && <Meter part={usedMB / sizeMB} label={megabytes(usedMB)} />,
          },
        ]}
        actions={(one) =>
          may.value.all && (
            <button type="button" class="danger" aria-label={'Delete ' + one.name} onClick={() => removeThem([one])}>
              Delete
            </button>
          )
        }
        bulk={may.value.all ? [{ name: 'Delete', danger: true, run: removeThem }] : []}
        empty={
          <>
            <p>No volumes yet.</p>
            <p>A volume holds files that outlive sandboxes, and several sandboxes can have it at once.</p>
          </>
        }
      />
      {creating.value && <NewVolume onClose={() => (creating.value = false)} />}
    </section>
  )
}

function NewVolume({ onClose }: { onClose: () => void }) {
  const submit = async (form: FormData) => {
    const body: Record<string, unknown> = { name: text(form, 'name') }
    if (text(form, 'sizeMB')) body['sizeMB'] = Math.round(Number(text(form, 'sizeMB')) * 1024)
    const made = await call<Opened>('POST', '/volumes', body)
    go('/volumes/' + made.volumeID)
  }
  return (
    <FormDialog title="New volume" action="Create" submit={submit} onClose={onClose}>
      <Field name="name" label="Name" hint="Letters, digits, - and _. Sandboxes name it when they are created.">
        <input required autofocus autocomplete="off" spellcheck={false} />
      </Field>
      <Field name="sizeMB" label="Size in GiB" hint="Empty for the size that this Cay gives. All of it counts against the disk of the team.">
        <input type="number" min="0.01" step="any" inputmode="decimal" />
      </Field>
    </FormDialog>
  )
}

const placeOf = (files: VolumeFiles, isReadOnly: boolean): Place => ({
  home: '/',
  isReadOnly,
  list: async (path) => {
    const entries = (await (await files.send('GET', 'dir', path)).json()) as Stat[]
    return entries.map((one) => ({
      name: one.name,
      path: one.path,
      isDirectory: one.type === 'directory',
      size: one.size,
      mode: modeOf(one),
      owner: OWNERS[one.uid] ?? String(one.uid),
      changed: one.mtime,
      target: one.target,
    }))
  },
  read: async (path) => (await files.send('GET', 'file', path)).blob(),
  write: (path, content) => files.send('PUT', 'file', path, { query: 'force=true', body: content }),
  remove: (path) => files.send('DELETE', 'path', path),
  makeDirectory: (path) => files.send('POST', 'dir', path),
})

/** Like `drwxr-xr-x`. */
function modeOf({ type, mode }: Stat): string {
  const kind = { directory: 'd', symlink: 'l' }[type] ?? '-'
  const bits = [...'rwxrwxrwx'].map((letter, at) => (mode & (1 << (8 - at)) ? letter : '-'))
  return kind + bits.join('')
}

export function VolumePage({ id }: { id: string }) {
  const opened = useLoad((end) => get<Opened>('/volumes/' + id, end), [id])
  const volume = opened.value
  const isReadOnly = !may.value.all
  const place = useMemo(() => volume && placeOf(new VolumeFiles(id, volume.token), isReadOnly), [volume?.token, isReadOnly])
  return (
    <section>
      <header class="page">
        <h1 class="wrap">{volume?.name ?? 'Volume'}</h1>
        {volume && (
          <>
            <span class="counts row">
              <span class="mono cut">{id}</span>
              <button type="button" class="icon" aria-label="Copy the id" title="Copy" onClick={() => copy(id)}>
                <Icon of="copy" />
              </button>
            </span>
            <span class="dim">{megabytes(volume.sizeMB)}</span>
            {may.value.all && (
              <button type="button" class="danger" onClick={async () => (await remove([volume])) && go('/volumes')}>
                Delete volume
              </button>
            )}
          </>
        )}
      </header>
      {opened.error ? <Failed text={opened.error} /> : place ? <Browser place={place} /> : <p class="loading">Loading…</p>}
    </section>
  )
}
