import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { call, get, may, message } from '../api'
import { FormDialog, Field, text } from '../form'
import { plain } from '../plain'
import { go, href, query, setQuery } from '../router'
import { Table } from '../table'
import { Ago, attempt, clock, confirm, Failed, Icon, shape, span, State, now, useLoad } from '../ui'
import { Create } from './create'

interface Build {
  buildID: string
  status: string
  createdAt: string
  finishedAt?: string
  cpuCount: number
  memoryMB: number
  diskSizeMB: number
}

interface Detail {
  templateID: string
  public: boolean
  aliases: string[]
  names: string[]
  createdAt: string
  lastSpawnedAt?: string
  spawnCount: number
  spares: number
  builds: Build[]
}

interface Line {
  timestamp: string
  message: string
  level: string
  step?: string
}

interface Status {
  status: string
  logEntries: Line[]
  reason?: { message: string; step?: string }
}

const LINES = 100
const MOST_LINES = 5000

/** What names one build; builds without a tag have nothing that the API could use. */
const named = (names: string[], id: string, tag: string): string => `${names[0] ?? id}:${tag}`

export function TemplatePage({ id }: { id: string }) {
  const loaded = useLoad((end) => get<Detail>('/templates/' + id, end), [id], 3000)
  const tags = useLoad((end) => get<{ tag: string; buildID: string }[]>(`/templates/${id}/tags`, end), [id], 3000)
  const creating = useSignal('')
  const tagging = useSignal('')
  const detail = loaded.value
  const newest = detail?.builds[0]?.buildID
  // Builds are shown to the team that owns the template; those that come with Cay have no team.
  const owned = useLoad(
    async (end) => newest !== undefined && get(`/templates/${id}/builds/${newest}/status?limit=1`, end).then(() => true, () => false),
    [id, newest],
  )
  const own = may.value.templates && owned.value === true && detail?.names.every((one) => one.includes('/'))
  if (!detail) return loaded.error ? <Failed text={loaded.error} /> : <p class="loading">Loading…</p>
  const name = detail.aliases[0] ?? detail.names[0] ?? id
  const wanted = query.value.get('build')
  const chosen = detail.builds.find(({ buildID }) => buildID === wanted) ?? detail.builds[0]
  const tagsOf = (build: string) => (tags.value ?? []).filter(({ buildID }) => buildID === build).map(({ tag }) => tag)
  const reload = () => (loaded.reload(), tags.reload())
  const untag = (tag: string) => attempt(() => call('DELETE', '/templates/tags', { name: detail.names[0] ?? id, tags: [tag] }), 'Tag removed').then(reload)
  const publish = () =>
    attempt(() => call('PATCH', '/v2/templates/' + id, { public: !detail.public }), detail.public ? 'Only this team can use it' : 'All teams can use it').then(reload)
  const remove = async () => {
    const yes = await confirm(`Delete ${name}?`, 'Its builds and tags are deleted. Sandboxes cannot be created from it any more.', 'Delete')
    if (yes && (await attempt(() => call('DELETE', '/templates/' + id), 'Template deleted'))) go('/templates')
  }
  return (
    <section class="one">
      <header class="page">
        <h1>{name}</h1>
        {detail.public && <span class="tag plain">public</span>}
        <span class="acts">
          {may.value.create && chosen?.status === 'ready' && (
            <button type="button" class="primary" onClick={() => (creating.value = startName(detail, tagsOf(chosen.buildID)))}>
              New sandbox
            </button>
          )}
          {own && (
            <>
              <button type="button" onClick={publish}>
                {detail.public ? 'Make private' : 'Publish'}
              </button>
              <button type="button" class="danger" onClick={remove}>
                Delete
              </button>
            </>
          )}
        </span>
      </header>
      <dl class="facts">
        <div>
          <dt>Id</dt>
          <dd class="mono">{id}</dd>
        </div>
        <div>
          <dt>Size</dt>
          <dd>{chosen ? shape(chosen) : ''}</dd>
        </div>
        <div>
          <dt>Started in advance</dt>
          <dd>{detail.spares === 0 ? 'none now' : `${detail.spares} ready`}</dd>
        </div>
        <div>
          <dt>Sandboxes so far</dt>
          <dd>{detail.spawnCount}</dd>
        </div>
        <div>
          <dt>Last used</dt>
          <dd>{detail.lastSpawnedAt ? <Ago at={detail.lastSpawnedAt} /> : 'never'}</dd>
        </div>
      </dl>
      <h2>Builds</h2>
      <Table
        label="Builds"
        rows={detail.builds}
        error={tags.error}
        id={({ buildID }) => buildID}
        current={(one) => one === chosen}
        columns={[
          {
            name: 'Build',
            class: 'mono',
            cell: ({ buildID }) => (
              <button type="button" class="link mono" title={buildID} onClick={() => setQuery({ build: buildID })}>
                {buildID.slice(0, 8)}
              </button>
            ),
          },
          { name: 'State', cell: ({ status }) => <State state={status} /> },
          {
            name: 'Tags',
            cell: ({ buildID }) =>
              tagsOf(buildID).map((tag) => (
                <span key={tag} class="tag">
                  {tag}
                  {own && tag !== 'default' && (
                    <button type="button" class="icon" aria-label={`Remove the tag ${tag}`} title="Remove" onClick={() => untag(tag)}>
                      <Icon of="close" />
                    </button>
                  )}
                </span>
              )),
          },
          { name: 'Begun', class: 'dim', cell: ({ createdAt }) => <Ago at={createdAt} /> },
          { name: 'Took', class: 'mid dim num', cell: took },
        ]}
        actions={(one) =>
          own &&
          (isUnderWay(one.status) ? (
            <button type="button" class="danger" onClick={() => attempt(() => call('POST', `/templates/${id}/builds/${one.buildID}/cancel`), 'Build cancelled').then(reload)}>
              Cancel
            </button>
          ) : (
            tagsOf(one.buildID).length > 0 && (
              <button type="button" onClick={() => (tagging.value = one.buildID)}>
                Add a tag
              </button>
            )
          ))
        }
        empty="No builds."
      />
      {chosen && own && <BuildLog key={chosen.buildID} template={id} build={chosen.buildID} onEnd={reload} />}
      {creating.value && <Create template={creating.value} onClose={() => (creating.value = '')} />}
      {tagging.value && (
        <FormDialog
          title="Add a tag"
          action="Add"
          names={{ tags: 'tag' }}
          onClose={() => (tagging.value = '')}
          submit={async (form) => {
            const target = named(detail.names, id, tagsOf(tagging.value)[0]!)
            await call('POST', '/templates/tags', { target, tags: [text(form, 'tag')] })
            reload()
          }}
        >
          <Field name="tag" label="Tag" hint="A tag that another build has goes to this one">
            <input required placeholder="stable" spellcheck={false} autocomplete="off" />
          </Field>
        </FormDialog>
      )}
    </section>
  )
}

function startName({ names, aliases, templateID }: Detail, tags: string[]): string {
  const name = aliases[0] ?? names[0] ?? templateID
  return tags.includes('default') || !tags[0] ? name : `${name}:${tags[0]}`
}

const isUnderWay = (status: string): boolean => status === 'building' || status === 'waiting'

function took({ status, createdAt, finishedAt }: Build): string {
  if (isUnderWay(status)) return span(now.value - Date.parse(createdAt))
  return finishedAt ? span(Date.parse(finishedAt) - Date.parse(createdAt)) : ''
}

/** The log of a build, which is followed until the build ends. */
function BuildLog({ template, build, onEnd }: { template: string; build: string; onEnd: () => void }) {
  const lines = useSignal<Line[]>([])
  const status = useSignal<Status | undefined>(undefined)
  const error = useSignal('')
  const box = useRef<HTMLDivElement>(null)
  const stays = useRef(true)
  useEffect(() => {
    const end = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let seen = 0
    const load = async () => {
      try {
        const now = await get<Status>(`/templates/${template}/builds/${build}/status?logsOffset=${seen}&limit=${LINES}`, end.signal)
        if (end.signal.aborted) return
        error.value = ''
        seen += now.logEntries.length
        if (now.logEntries.length) lines.value = [...lines.value, ...now.logEntries].slice(-MOST_LINES)
        const ended = !isUnderWay(now.status) && now.logEntries.length < LINES
        const before = status.value
        status.value = now
        if (ended) {
          if (before) onEnd()
          return
        }
        timer = setTimeout(load, now.logEntries.length === LINES ? 0 : 700)
      } catch (e) {
        if (end.signal.aborted) return
        error.value = message(e)
        timer = setTimeout(load, 3000)
      }
    }
    void load()
    return () => {
      end.abort()
      clearTimeout(timer)
    }
  }, [])
  useEffect(() => {
    if (stays.current && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [lines.value])
  const known = status.value
  return (
    <div class="build-log">
      <h2>
        Log of {build.slice(0, 8)} {known && <State state={known.status} />}
      </h2>
      {error.value && <Failed text={error.value} />}
      {known?.reason && <Failed text={(known.reason.step ? `Step ${known.reason.step}: ` : '') + plain(known.reason.message)} />}
      {lines.value.length > 0 ? (
        <div
          class="log mono"
          ref={box}
          tabIndex={0}
          role="log"
          onScroll={(e) => {
            const { scrollTop, scrollHeight, clientHeight } = e.currentTarget
            stays.current = scrollTop + clientHeight > scrollHeight - 30
          }}
        >
          {lines.value.map((line, at) => (
            <div key={at} class={'line plain ' + (/^[a-z]+$/.test(line.level) ? line.level : '')}>
              <time dateTime={line.timestamp}>{clock(line.timestamp)}</time>
              <span class="text">{plain(line.message)}</span>
            </div>
          ))}
        </div>
      ) : (
        <p class="empty">
          {!known ? 'Loading…' : isUnderWay(known.status) ? 'The build has not said anything yet.' : <>Nothing was said. <a href={href('/templates')}>All templates</a></>}
        </p>
      )}
    </div>
  )
}
