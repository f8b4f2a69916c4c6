// The MCP gateway of a sandbox: its servers, their tools, and how clients connect.
import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { Envd, PORTS } from '../api'
import type { PartProps } from '../parts/part'
import { plain } from '../plain'
import { attempt, copy, Empty, Failed, Icon, useLoad } from '../ui'
import { OWN, startGateway, tokenOf, Gateway } from './gateway'
import { CallLog } from './log'
import { Servers } from './servers'
import { Tools } from './tools'

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
