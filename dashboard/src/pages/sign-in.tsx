import { useSignal } from '@preact/signals'
import { loadSession, message, session, signIn } from '../api'
import { useEffect } from 'preact/hooks'

export function SignIn() {
  const error = useSignal('')
  const busy = useSignal(false)
  const issuer = session.value?.issuer
  // A link that is opened in another tab signs this one in too.
  useEffect(() => {
    const look = () => !document.hidden && void loadSession().catch(() => undefined)
    document.addEventListener('visibilitychange', look)
    const timer = setInterval(look, 4000)
    return () => {
      document.removeEventListener('visibilitychange', look)
      clearInterval(timer)
    }
  }, [])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const key = new FormData(event.currentTarget as HTMLFormElement).get('key') as string
    busy.value = true
    try {
      await signIn(key)
    } catch (e) {
      error.value = message(e)
    }
    busy.value = false
  }
  return (
    <main class="sign-in">
      <h1>Sign in to Cay</h1>
      <form onSubmit={submit}>
        <label>
          API key
          <input name="key" type="password" autocomplete="off" spellcheck={false} placeholder="e2b_…" required autofocus />
        </label>
        <button class="primary" disabled={busy.value}>
          Sign in
        </button>
        {error.value && (
          <p class="failed" role="alert">
            {error.value}
          </p>
        )}
      </form>
      {issuer && (
        <p>
          <a class="button" id="issuer" href="/sign-in/start">
            Sign in with {issuer}
          </a>
        </p>
      )}
      <p class="hint">
        Or with a link for one sign-in, which whoever runs this Cay makes with <code>sudo ./cay login</code>. This page goes on by
        itself.
      </p>
    </main>
  )
}
