// The MCP gateway of a sandbox: its servers, their tools, and how clients connect.
import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { ApiError, call, Envd, message, PORTS } from '../api'
import { Field, FormDialog } from '../form'
import type { PartProps } from '../pages/sandbox'
import { plain } from '../parts/processes'
import { Search, Table, useFilter } from '../table'
import { attempt, confirm, copy, Dialog, Empty, Failed, Icon, State, toast, useLoad } from '../ui'
import { list, OWN, startGateway, text, tokenOf, tree, Gateway, type Server, type Tool } from './gateway'
import { CallLog } from './log'
import { Try } from './try'

export default function Mcp({ id, detail }: PartProps) {
  const root = useMemo(() => new Envd(id, detail.envdAccessToken, 'root'), [id, detail.envdAccessToken])
  const token = useLoad((end) => tokenOf(root, end), [root])
  const gateway = useMemo(() => (token.value === undefined ? undefined : new Gateway(id, token.value)), [id, token.value])
  useEffect(() => () => gateway?.close(), [gateway])
  const servers = useLoad(async (end) => (gateway ? { there: await gateway.servers(end) } : undefined), [gateway], 4000)
  const there = servers.value?.there
  // Their tools may differ when a server's state does.
  const known = there?.map(({ key, state, tools }) => [key, state, tools].join()).join(';')
  const tools = useLoad(async (end) => (gateway && known !== undefined ? gateway.tools(end) : undefined), [gateway, known])
  const starting = useSignal(false)
  const begin = async () => {
    starting.value = true
    await attempt(() => startGateway(root, new AbortController().signal), 'The gateway has started')
    starting.value = false
    token.reload()
    servers.reload()
  }
  const error = token.error || servers.error
  if (error) return <Failed text={plain(error)} />
  if (!gateway || !servers.value) return <p class="loading">Loading…</p>
  if (!there) {
    return (
      <Empty>
        <p>This sandbox has no MCP gateway.</p>
        <p>A gateway has the tools of MCP servers behind one address. Programs begin one with <code>mcp</code> when they create a sandbox.</p>
        <p>
          <button type="button" class="primary" id="start-gateway" disabled={starting.value} onClick={begin}>
            {starting.value ? 'Starting…' : 'Start a gateway'}
          </button>
        </p>
      </Empty>
    )
  }
  const has = (name: string) => tools.value?.some((tool) => tool.name === name) ?? false
  return (
    <div class="mcp">
      <Connection id={id} domain={detail.domain} token={token.value ?? ''} isPublic={detail.network.allowPublicTraffic} />
      <Servers id={id} gateway={gateway} servers={there} adds={has(OWN.add) && has(OWN.find)} removes={has(OWN.remove)} onChange={servers.reload} />
      <Tools gateway={gateway} tools={tools.value} error={tools.error} />
      <CallLog id={id} />
    </div>
  )
}

interface ConnectionProps {
  id: string
  domain: string
  token: string
  isPublic: boolean
}

function Connection({ id, domain, token, isPublic }: ConnectionProps) {
  const shown = useSignal(false)
  const url = `https://${PORTS.mcp}-${id}.${domain}/mcp`
  return (
    <>
      <dl class="connect">
        <dt>Address</dt>
        <dd class="mono wrap">{url}</dd>
        <dd>
          <button type="button" class="icon" aria-label="Copy the address" title="Copy" onClick={() => copy(url)}>
            <Icon of="copy" />
          </button>
        </dd>
        <dt>Token</dt>
        <dd class="mono wrap" id="mcp-token">
          {token === '' ? 'none: whoever reaches the address may use the gateway' : shown.value ? token : '•'.repeat(16)}
        </dd>
        <dd>
          {token !== '' && (
            <>
              <button type="button" class="quiet" aria-pressed={shown.value} onClick={() => (shown.value = !shown.value)}>
                {shown.value ? 'Hide' : 'Show'}
              </button>
              <button type="button" class="icon" aria-label="Copy the token" title="Copy" onClick={() => copy(token)}>
                <Icon of="copy" />
              </button>
            </>
          )}
        </dd>
      </dl>
      <p class="note">
        Clients send <code>Authorization: Bearer TOKEN</code>
        {isPublic ? '.' : ', and the sandbox’s traffic token.'} Inside, the address is <code>http://localhost:{PORTS.mcp}/mcp</code>.
      </p>
    </>
  )
}

interface ServersProps {
  id: string
  gateway: Gateway
  servers: Server[]
  adds: boolean
  removes: boolean
  onChange: () => void
}

function Servers({ id, gateway, servers, adds, removes, onChange }: ServersProps) {
  const adding = useSignal(false)
  const remove = async ({ key }: Server) => {
    const sure = await confirm(`Remove ${plain(key)}?`, 'Its tools and its options go, for all clients of this gateway.', 'Remove')
    if (sure && (await attempt(() => gateway.own(OWN.remove, { name: key }), 'Server removed'))) onChange()
  }
  // The address comes from an authorization server, and is asked for anew each time.
  const authorize = ({ key }: Server) =>
    attempt(async () => {
      const { authorize } = await call<{ authorize?: string }>('POST', `/sandboxes/${id}/mcp/${encodeURIComponent(key)}/authorize`)
      if (!authorize || !/^https?:\/\//i.test(authorize)) throw new ApiError(0, 'the server needs no authorization now')
      window.open(authorize, '_blank', 'noopener,noreferrer')
    })
  return (
    <section aria-label="Servers">
      <header class="strip">
        <h2 class="grow">Servers</h2>
        {adds && (
          <button type="button" id="add-server" onClick={() => (adding.value = true)}>
            Add a server
          </button>
        )}
      </header>
      <Table
        label="Servers"
        rows={servers}
        id={({ key }) => key}
        columns={[
          {
            name: 'Server',
            class: 'wrap',
            cell: (one) => (
              <>
                {plain(one.key)}
                <About server={one} />
              </>
            ),
          },
          { name: 'State', cell: ({ state }) => <State state={state} /> },
          { name: 'Tools', class: 'right num', cell: ({ tools }) => tools },
          { name: 'Started as', class: 'mid dim wrap', cell: ({ way }) => plain(way) },
        ]}
        actions={(one) => (
          <>
            {one.authorize && (
              <button type="button" aria-label={'Authorize ' + plain(one.key)} onClick={() => authorize(one)}>
                Authorize
              </button>
            )}
            {removes && (
              <button type="button" class="danger" aria-label={'Remove ' + plain(one.key)} onClick={() => remove(one)}>
                Remove
              </button>
            )}
          </>
        )}
        empty={adds ? 'No servers yet.' : 'This gateway has no servers.'}
      />
      {!adds && !removes && (
        <p class="note">
          Servers of this gateway are changed where it was started. One that is started with <code>--meta-tools on</code> takes changes here.
        </p>
      )}
      {adding.value && (
        <AddServer
          gateway={gateway}
          onClose={() => {
            adding.value = false
            onChange()
          }}
        />
      )}
    </section>
  )
}

/** What keeps a server from working, and what it is doing. Programs of others have written most of it. */
function About({ server }: { server: Server }) {
  const { reason, progress, warning, otherWays } = server
  return (
    <>
      {reason && <p class="why bad">{plain(reason)}</p>}
      {progress && <p class="why">{plain(progress)}</p>}
      {warning && <p class="why soon">{plain(warning)}</p>}
      {otherWays
        .filter((other) => other.reason)
        .map((other) => (
          <p class="why" key={other.way}>
            {plain(other.way)}: {plain(other.reason)}
          </p>
        ))}
    </>
  )
}

interface Option {
  name: string
  type: string
  secret: boolean
}

/** A server of the catalog. */
interface Found {
  key: string
  title: string
  startable: boolean
  added: boolean
  required: string[]
  options: Option[]
}

function foundOf(value: unknown): Found {
  const one = tree(value)
  return {
    key: text(one['key']),
    title: text(one['title']),
    startable: one['startable'] === true,
    added: one['added'] === true,
    required: list(one['required']).map(text),
    options: list(one['options']).map(tree).map((option) => ({ name: text(option['name']), type: text(option['type']), secret: option['secret'] === true })),
  }
}

function AddServer({ gateway, onClose }: { gateway: Gateway; onClose: () => void }) {
  const words = useSignal('')
  const chosen = useSignal<Found | null>(null)
  const found = useSignal<Found[]>([])
  const error = useSignal('')
  useEffect(() => {
    if (!words.value.trim()) {
      found.value = []
      return
    }
    let over = false
    const timer = setTimeout(async () => {
      try {
        const { servers } = await gateway.own(OWN.find, { query: words.value.trim(), limit: 20 })
        if (!over) found.value = list(servers).map(foundOf)
        error.value = ''
      } catch (e) {
        if (!over) error.value = message(e)
      }
    }, 250)
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [words.value])
  if (chosen.value) return <ServerOptions gateway={gateway} of={chosen.value} onClose={onClose} />
  return (
    <Dialog title="Add a server" onClose={onClose}>
      <label>
        What for?
        <input
          type="search"
          autofocus
          placeholder="A product or a subject, like jira or search"
          value={words.value}
          onInput={(e) => (words.value = e.currentTarget.value)}
        />
      </label>
      {error.value && <Failed text={plain(error.value)} />}
      <ul class="found">
        {found.value.map((one) => (
          <li key={one.key} data-id={one.key}>
            <button type="button" class="link" disabled={!one.startable || one.added} onClick={() => (chosen.value = one)}>
              {one.title || one.key}
            </button>
            <span class="dim mono">{one.key}</span>
            <span class="dim">{one.added ? 'is there' : !one.startable ? 'cannot be started here' : ''}</span>
          </li>
        ))}
      </ul>
      {words.value.trim() && found.value.length === 0 && !error.value && <p class="dim">Nothing of the catalog fits.</p>}
    </Dialog>
  )
}

function ServerOptions({ gateway, of, onClose }: { gateway: Gateway; of: Found; onClose: () => void }) {
  const submit = async (form: FormData) => {
    const options: [string, unknown][] = []
    of.options.forEach(({ name, type }, at) => {
      const written = String(form.get('option' + at) ?? '')
      if (written !== '') options.push([name, type === 'list' ? written.split('\n').filter(Boolean) : written])
    })
    const { warnings } = await gateway.own(OWN.add, { name: of.key, options: Object.fromEntries(options) })
    const told = list(warnings).map(text).join(' ')
    toast(told ? plain(told) : of.key + ' added', told !== '')
  }
  return (
    <FormDialog title={'Add ' + of.key} action="Add" submit={submit} onClose={onClose}>
      {of.options.length === 0 && <p class="dim">It has no options.</p>}
      {of.options.map(({ name, type, secret }, at) => (
        <Field key={name} name={'option' + at} label={name} {...(type === 'list' ? { hint: 'One in each line.' } : {})}>
          {type === 'list' ? (
            <textarea rows={2} class={secret ? 'masked' : ''} required={of.required.includes(name)} spellcheck={false} />
          ) : type === 'boolean' ? (
            <select required={of.required.includes(name)}>
              <option value="" />
              <option value="true">true</option>
              <option value="false">false</option>
            </select>
          ) : (
            <input class={secret ? 'masked' : ''} required={of.required.includes(name)} autocomplete="off" spellcheck={false} />
          )}
        </Field>
      ))}
    </FormDialog>
  )
}

interface ToolsProps {
  gateway: Gateway
  tools: Tool[] | undefined
  error: string
}

function Tools({ gateway, tools, error }: ToolsProps) {
  const shown = useFilter(tools, ({ name, title, description }) => [name, title, description])
  const trying = useSignal<Tool | null>(null)
  return (
    <section aria-label="Tools">
      <header class="strip">
        <h2 class="grow">Tools</h2>
        <Search placeholder="Search names and descriptions" />
      </header>
      <Table
        label="Tools"
        rows={shown}
        error={plain(error)}
        id={({ name }) => name}
        columns={[
          { name: 'Tool', class: 'mono wrap', cell: ({ name }) => plain(name) },
          {
            name: 'What it does',
            class: 'mid wrap dim',
            cell: ({ title, description }) => plain(description || title).slice(0, 240),
          },
        ]}
        actions={(one) => (
          <button type="button" aria-label={'Try ' + plain(one.name)} onClick={() => (trying.value = one)}>
            Try
          </button>
        )}
        empty="No tools. A server that starts has none yet."
      />
      {trying.value && <Try key={trying.value.name} gateway={gateway} tool={trying.value} onClose={() => (trying.value = null)} />}
    </section>
  )
}
