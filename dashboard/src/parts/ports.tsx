import type { PartProps } from './part'
import { Empty, Failed, useLoad } from '../ui'

const LISTENS = '0A'
const SYSTEM = new Set([49983, 49999, 50005])

/** Ports that something inside listens on, as the kernel lists them. */
async function listening(envd: PartProps['envd'], end: AbortSignal): Promise<number[]> {
  const process = { cmd: '/bin/cat', args: ['/proc/net/tcp', '/proc/net/tcp6'] }
  let text = ''
  for await (const { event } of envd.stream<{ event?: { data?: { stdout?: string } } }>('process.Process/Start', { process }, end)) {
    text += atob(event?.data?.stdout ?? '')
  }
  const ports = text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === LISTENS)
    .map((fields) => parseInt(fields[1]!.split(':')[1]!, 16))
  return [...new Set(ports)].filter((port) => !SYSTEM.has(port)).sort((a, b) => a - b)
}

export function Ports({ id, detail, envd }: PartProps) {
  const found = useLoad((end) => listening(envd, end), [envd], 5000)
  const address = (port: number) => {
    const [host, at] = detail.domain.split(':')
    return `https://${port}-${id}.${host}${at ? ':' + at : ''}/`
  }
  if (found.error) return <Failed text={found.error} />
  if (!found.value) return <p class="loading">Loading…</p>
  return (
    <div>
      {!detail.network.allowPublicTraffic && (
        <p class="note">Requests to these ports need the sandbox’s traffic token, so a link alone does not open them.</p>
      )}
      {found.value.length === 0 ? (
        <Empty>
          <p>Nothing listens.</p>
          <p>A server that listens on any port inside, also on 127.0.0.1, appears here with its address.</p>
        </Empty>
      ) : (
        <table>
          <thead>
            <tr>
              <th class="right">Port</th>
              <th>Address</th>
            </tr>
          </thead>
          <tbody>
            {found.value.map((port) => (
              <tr key={port}>
                <td class="right num">{port}</td>
                <td class="mono">
                  <a href={address(port)} target="_blank" rel="noopener noreferrer">
                    {address(port)}
                  </a>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  )
}
