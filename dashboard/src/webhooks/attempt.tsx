// One attempt to deliver an event. What a receiver answered is shown as text.
import { plain } from '../plain'
import { Failed, moment, State } from '../ui'
import type { Attempt } from './calls'

/** What the receiver said, in a few words. */
export const answer = (one: Attempt): string =>
  one.errorClass === 'canceled'
    ? `not sent: ${one.errorMessage ?? ''}`
    : one.responseHttpStatusCode
      ? `status ${one.responseHttpStatusCode}`
      : plain(one.errorMessage ?? one.errorClass ?? '')

/** JSON with a line for each field; other texts as they are. */
function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return plain(body)
  }
}

const Text = ({ label, of }: { label: string; of: string }) => (
  <pre class="output" tabIndex={0} role="region" aria-label={label}>
    {pretty(of)}
  </pre>
)

export function AttemptView({ of }: { of: Attempt }) {
  return (
    <div class="attempt">
      <dl class="facts">
        <div>
          <dt>Result</dt>
          <dd>
            <State state={of.status === 'success' ? 'delivered' : 'failed'} />
          </dd>
        </div>
        <div>
          <dt>Answer</dt>
          <dd class="wrap">{answer(of)}</dd>
        </div>
        <div>
          <dt>Time</dt>
          <dd>
            {moment(of.timestamp)}, {of.durationMs} ms
          </dd>
        </div>
      </dl>
      {of.responseHttpStatusCode && of.errorMessage && <Failed text={plain(of.errorMessage)} />}
      <h3>Sent to {of.requestUrl}</h3>
      <Text label="What was sent" of={of.requestBody} />
      <details>
        <summary>Headers</summary>
        <Text label="Headers" of={of.requestHeaders} />
      </details>
      {of.responseBody && (
        <>
          <h3>Answered</h3>
          <Text label="The answer" of={of.responseBody} />
        </>
      )}
      {of.responseHeaders && (
        <details>
          <summary>Headers of the answer</summary>
          <Text label="Headers of the answer" of={of.responseHeaders} />
        </details>
      )}
    </div>
  )
}
