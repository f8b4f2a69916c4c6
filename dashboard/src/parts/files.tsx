import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { PartProps } from '../pages/sandbox'
import { message } from '../api'
import { attempt, confirm, Dialog, Failed, Icon, size, useLoad } from '../ui'

interface Entry {
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

const EDITABLE = 256 * 1024
const DIRECTORY = 'FILE_TYPE_DIRECTORY'

const parent = (path: string): string => path.replace(/\/[^/]*\/?$/, '') || '/'
const join = (directory: string, name: string): string => (directory === '/' ? '' : directory) + '/' + name

export function save(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

export function Files({ envd }: PartProps) {
  const path = useSignal('/home/user')
  const typed = useSignal('')
  const over = useSignal(false)
  const editing = useSignal<{ path: string; text: string } | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const listed = useLoad(
    async () => {
      const { entries = [] } = await envd.call<{ entries?: Entry[] }>('filesystem.Filesystem/ListDir', { path: path.value, depth: 1 })
      const rank = (one: Entry) => (one.type === DIRECTORY ? 0 : 1)
      return entries.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name))
    },
    [envd, path.value],
  )
  // The list follows the directory.
  useEffect(() => {
    const end = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    void (async () => {
      for await (const { filesystem } of envd.stream<Change>('filesystem.Filesystem/WatchDir', { path: path.value }, end.signal)) {
        if (!filesystem) continue
        clearTimeout(timer)
        timer = setTimeout(listed.reload, 250)
      }
    })().catch(() => undefined)
    return () => {
      end.abort()
      clearTimeout(timer)
    }
  }, [envd, path.value])

  const to = (where: string) => {
    path.value = where
    typed.value = ''
  }
  const upload = (files: Iterable<File>) =>
    attempt(async () => {
      for (const file of files) await envd.write(join(path.value, file.name), file)
      listed.reload()
    }, 'Uploaded')
  const openFile = (one: Entry) =>
    attempt(async () => {
      const content = await envd.file(one.path)
      const bytes = new Uint8Array(await content.arrayBuffer())
      if (bytes.length > EDITABLE || bytes.includes(0)) save(content, one.name)
      else editing.value = { path: one.path, text: new TextDecoder().decode(bytes) }
    })
  const remove = async (one: Entry) => {
    const what = one.type === DIRECTORY ? 'The directory and all in it are' : 'The file is'
    if (!(await confirm(`Delete ${one.name}?`, `${what} deleted from the sandbox.`, 'Delete'))) return
    await attempt(() => envd.call('filesystem.Filesystem/Remove', { path: one.path }))
    listed.reload()
  }
  const make = () => {
    const name = prompt('Name of the new directory')
    if (name) void attempt(() => envd.call('filesystem.Filesystem/MakeDir', { path: join(path.value, name) })).then(listed.reload)
  }
  return (
    <div
      class={over.value ? 'files over' : 'files'}
      onDragOver={(e) => {
        e.preventDefault()
        over.value = true
      }}
      onDragLeave={() => (over.value = false)}
      onDrop={(e) => {
        e.preventDefault()
        over.value = false
        void upload(e.dataTransfer?.files ?? [])
      }}
    >
      <form
        class="strip"
        onSubmit={(e) => {
          e.preventDefault()
          if (typed.value) to(typed.value)
        }}
      >
        <button type="button" aria-label="Up" title="Up" disabled={path.value === '/'} onClick={() => to(parent(path.value))}>
          <Icon of="up" />
        </button>
        <input
          class="mono grow"
          aria-label="Directory"
          value={typed.value || path.value}
          spellcheck={false}
          onInput={(e) => (typed.value = e.currentTarget.value)}
        />
        <button type="button" onClick={make}>
          New directory
        </button>
        <button type="button" onClick={() => input.current?.click()}>
          Upload
        </button>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label="Files to upload"
          onChange={(e) => upload([...(e.currentTarget.files ?? [])])}
        />
      </form>
      {listed.error ? (
        <Failed text={listed.error} />
      ) : !listed.value ? (
        <p class="loading">Loading…</p>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>Name</th>
                <th class="right">Size</th>
                <th class="wide">Mode</th>
                <th class="wide">Owner</th>
                <th class="wide">Changed</th>
                <th>
                  <span class="sr">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {listed.value.map((one) => (
                <tr key={one.path} data-name={one.name}>
                  <td class="mono">
                    <button type="button" class="link" onClick={() => (one.type === DIRECTORY ? to(one.path) : openFile(one))}>
                      {one.name}
                      {one.type === DIRECTORY && '/'}
                    </button>
                    {one.symlinkTarget && <span class="dim"> → {one.symlinkTarget}</span>}
                  </td>
                  <td class="right num">{one.type === DIRECTORY ? '' : size(Number(one.size ?? 0))}</td>
                  <td class="wide mono dim">{one.permissions}</td>
                  <td class="wide dim">{one.owner}</td>
                  <td class="wide dim">{new Date(one.modifiedTime).toLocaleString()}</td>
                  <td class="acts">
                    {one.type !== DIRECTORY && (
                      <button
                        type="button"
                        class="quiet"
                        title="Download"
                        aria-label={'Download ' + one.name}
                        onClick={() => attempt(async () => save(await envd.file(one.path), one.name))}
                      >
                        <Icon of="download" />
                      </button>
                    )}
                    <button type="button" class="quiet" title="Delete" aria-label={'Delete ' + one.name} onClick={() => remove(one)}>
                      <Icon of="close" />
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {listed.value.length === 0 && <p class="empty">Empty. Drop files here to upload them.</p>}
        </div>
      )}
      {editing.value && <Editor key={editing.value.path} {...editing.value} envd={envd} onClose={() => (editing.value = null)} />}
    </div>
  )
}

function Editor({ path, text, envd, onClose }: { path: string; text: string; envd: PartProps['envd']; onClose: () => void }) {
  const content = useSignal(text)
  const error = useSignal('')
  const write = async () => {
    try {
      await envd.write(path, new Blob([content.value]))
      onClose()
    } catch (e) {
      error.value = message(e)
    }
  }
  return (
    <Dialog title={path} onClose={onClose}>
      <textarea
        class="mono editor"
        aria-label="Content"
        spellcheck={false}
        value={content.value}
        onInput={(e) => (content.value = e.currentTarget.value)}
      />
      {error.value && <Failed text={error.value} />}
      <footer>
        <button type="button" class="primary" disabled={content.value === text} onClick={write}>
          Save
        </button>
      </footer>
    </Dialog>
  )
}
