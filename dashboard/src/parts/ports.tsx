import { PORTS } from '../api'
import { Empty, Loaded, useLoad } from '../ui'
import type { PartProps } from './part'

/** What Cay itself answers; at the interpreter's and the gateway's port, also a server of the user's. */
const SYSTEM = new Set([PORTS.interpreter, PORTS.mcp])

export function Ports({ id, detail, envd }: PartProps) {
  const found = useLoad((end) => envd.listening(end), [envd], 3000)
  const address = (port: number) => {
    const [host, at] = detail.domain.split(':')
    return `https://${port}-${id}.${host}${at ? ':' + at : ''}/`
  }
  return (
    <div>
      {!detail.network.allowPublicTraffic && (
        <p class="note">Requests to these ports need the sandbox’s traffic token, so a link alone does not open them.</p>
      )}
      <Loaded of={found}>
        {(all) => {
          const ports = all.filter((port) => !SYSTEM.has(port))
          return ports.length === 0 ? (
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
            {ports.map((port) => (
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
      )
        }}
      </Loaded>
    </div>
  )
}
