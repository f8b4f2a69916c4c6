// Files, wherever they are: a list of one directory, upload, download, an editor for small ones.
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { message } from '../api'
import { Field, FormDialog, text } from '../form'
import { go, path as page, query } from '../router'
import { each, Search, Table, useFilter } from '../table'
import { attempt, confirm, Dialog, Failed, Icon, moment, size, useLoad } from '../ui'
import { seen, whileSeen } from '../visible'

export interface Entry {
  name: string
  path: string
  isDirectory: boolean
  size: number
  mode: string
  owner: string
  changed: string
  target?: string | undefined
}

/** Where the files are. */
export interface Place {
  /** The directory that is shown first. */
  home: string
  isReadOnly?: boolean
  list: (path: string) => Promise<Entry[]>
  read: (path: string) => Promise<Blob>
  write: (path: string, content: Blob) => Promise<unknown>
  remove: (path: string) => Promise<unknown>
  makeDirectory: (path: string) => Promise<unknown>
  /** Follows a directory until the end. */
  watch?: (path: string, changed: () => void, end: AbortSignal) => Promise<void>
}

const EDITABLE = 256 * 1024
const WATCH_AGAIN = 3000
const WORDS: [string, string] = ['File', 'files']

const parent = (path: string): string => path.replace(/\/[^/]*\/?$/, '') || '/'
const join = (directory: string, name: string): string => (directory === '/' ? '' : directory) + '/' + name

export function save(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

export function Browser({ place }: { place: Place }) {
  const directory = query.value.get('path') ?? place.home
  const typed = useSignal('')
  const over = useSignal(false)
  const making = useSignal(false)
  const uploading = useSignal(0)
  const editing = useSignal<{ path: string; text: string } | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const listed = useLoad(
    async () => {
      const entries = await place.list(directory)
      const rank = (one: Entry) => (one.isDirectory ? 0 : 1)
      return { directory, entries: entries.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name)) }
    },
    [place, directory],
  )
  // Of another directory than the address says, until the list is there.
  const entries = listed.value?.directory === directory ? listed.value.entries : undefined
  const shown = useFilter(entries, ({ name }) => [name])
  useEffect(() => {
    const end = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const changed = () => {
      clearTimeout(timer)
      timer = setTimeout(listed.reload, 250)
    }
    const watch = async () => {
      while (place.watch && !end.signal.aborted) {
        await place.watch(directory, changed, whileSeen(end.signal)).catch(() => undefined)
        if (end.signal.aborted) return
        await new Promise((resolve) => setTimeout(resolve, WATCH_AGAIN))
        await seen(end.signal)
        // What happened meanwhile.
        changed()
      }
    }
    void watch()
    return () => {
      end.abort()
      clearTimeout(timer)
    }
  }, [place, directory])

  const to = (where: string) => {
    typed.value = ''
    go(`${page.value}?path=${encodeURIComponent(where)}`)
  }
  const upload = async (files: Iterable<File>) => {
    const all = [...files]
    uploading.value += all.length
    await each(all, WORDS, 'uploaded', (file) => place.write(join(directory, file.name), file).finally(() => uploading.value--))
    listed.reload()
  }
  const download = (chosen: Entry[]) => attempt(async () => {
    for (const one of chosen) save(await place.read(one.path), one.name)
  })
  const openFile = (one: Entry) =>
    attempt(async () => {
      const content = await place.read(one.path)
      const bytes = content.size > EDITABLE ? undefined : new Uint8Array(await content.arrayBuffer())
      if (!bytes || bytes.includes(0)) save(content, one.name)
      else editing.value = { path: one.path, text: new TextDecoder().decode(bytes) }
    })
  const remove = async (chosen: Entry[]) => {
    const what = chosen.length === 1 ? chosen[0]!.name : `${chosen.length} files and directories`
    const text = chosen.some(({ isDirectory }) => isDirectory) ? 'Directories are deleted with all that is in them. ' : ''
    if (!(await confirm(`Delete ${what}?`, text + 'This cannot be undone.', 'Delete'))) return
    await each(chosen, WORDS, 'deleted', ({ path }) => place.remove(path))
    listed.reload()
  }
  const isFile = ({ isDirectory }: Entry) => !isDirectory
  const changes = !place.isReadOnly
  return (
    <div
      class={over.value ? 'files over' : 'files'}
      onDragOver={(e) => {
        e.preventDefault()
        over.value = changes
      }}
      onDragLeave={() => (over.value = false)}
      onDrop={(e) => {
        e.preventDefault()
        over.value = false
        if (changes) void upload(e.dataTransfer?.files ?? [])
      }}
    >
      <form
        class="strip"
        onSubmit={(e) => {
          e.preventDefault()
          if (typed.value) to(typed.value)
        }}
      >
        <button type="button" aria-label="Up" title="Up" disabled={directory === '/'} onClick={() => to(parent(directory))}>
          <Icon of="up" />
        </button>
        <input
          class="mono grow"
          aria-label="Directory"
          value={typed.value || directory}
          spellcheck={false}
          onInput={(e) => (typed.value = e.currentTarget.value)}
        />
        <Search placeholder="Search names" />
        {changes && (
          <>
            <button type="button" onClick={() => (making.value = true)}>
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
              onChange={(e) => {
                void upload([...(e.currentTarget.files ?? [])])
                e.currentTarget.value = ''
              }}
            />
          </>
        )}
        <span class="dim" role="status">
          {uploading.value > 0 && `Uploading ${uploading.value === 1 ? 'a file' : `${uploading.value} files`}…`}
        </span>
      </form>
      <Table
        key={directory}
        label="Files"
        rows={shown}
        error={listed.error}
        id={({ name }) => name}
        columns={[
          {
            name: 'Name',
            class: 'mono',
            cell: (one) => (
              <>
                <button type="button" class="link" onClick={() => (one.isDirectory ? to(one.path) : openFile(one))}>
                  {one.name}
                  {one.isDirectory && '/'}
                </button>
                {one.target !== undefined && <span class="dim"> → {one.target}</span>}
              </>
            ),
          },
          { name: 'Size', class: 'right num', cell: (one) => (one.isDirectory ? '' : size(one.size)) },
          { name: 'Mode', class: 'wide mono dim', cell: ({ mode }) => mode },
          { name: 'Owner', class: 'wide dim', cell: ({ owner }) => owner },
          { name: 'Changed', class: 'wide dim', cell: ({ changed }) => moment(changed) },
        ]}
        actions={(one) => (
          <>
            {isFile(one) && (
              <button type="button" class="quiet" title="Download" aria-label={'Download ' + one.name} onClick={() => download([one])}>
                <Icon of="download" />
              </button>
            )}
            {changes && (
              <button type="button" class="quiet" title="Delete" aria-label={'Delete ' + one.name} onClick={() => remove([one])}>
                <Icon of="close" />
              </button>
            )}
          </>
        )}
        bulk={[{ name: 'Download', applies: isFile, run: download }, ...(changes ? [{ name: 'Delete', danger: true, run: remove }] : [])]}
        empty={changes ? 'Empty. Drop files here to upload them.' : 'Empty.'}
      />
      {making.value && (
        <FormDialog
          title="New directory"
          action="Create"
          onClose={() => (making.value = false)}
          submit={async (form) => {
            await place.makeDirectory(join(directory, text(form, 'name')))
            listed.reload()
          }}
        >
          <Field name="name" label="Name">
            <input class="mono" required autofocus autocomplete="off" spellcheck={false} pattern="[^\/]+" title="a name without /" />
          </Field>
        </FormDialog>
      )}
      {editing.value && (
        <Editor
          key={editing.value.path}
          {...editing.value}
          place={place}
          onClose={() => {
            editing.value = null
            if (!place.watch) listed.reload()
          }}
        />
      )}
    </div>
  )
}

function Editor({ path, text, place, onClose }: { path: string; text: string; place: Place; onClose: () => void }) {
  const content = useSignal(text)
  const error = useSignal('')
  const write = async () => {
    try {
      await place.write(path, new Blob([content.value]))
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
        readOnly={place.isReadOnly}
        value={content.value}
        onInput={(e) => (content.value = e.currentTarget.value)}
      />
      {error.value && <Failed text={error.value} />}
      {!place.isReadOnly && (
        <footer>
          <button type="button" class="primary" disabled={content.value === text} onClick={write}>
            Save
          </button>
        </footer>
      )}
    </Dialog>
  )
}
