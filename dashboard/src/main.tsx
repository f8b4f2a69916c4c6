import { signal } from '@preact/signals'
import { render, type ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { chooseTeam, loadSession, may, message, read, session, signOut, team, write } from './api'
import { trouble } from './live'
import { Audit } from './pages/audit'
import { Keys } from './pages/keys'
import { LimitsPage } from './pages/limits'
import { Members } from './pages/members'
import { NewTemplate } from './pages/new-template'
import { Overview } from './pages/overview'
import { SandboxPage } from './pages/sandbox'
import { Sandboxes } from './pages/sandboxes'
import { Secrets } from './pages/secrets'
import { SignIn } from './pages/sign-in'
import { TemplatePage } from './pages/template'
import { Templates } from './pages/templates'
import { VolumePage, Volumes } from './pages/volumes'
import { go, href, path } from './router'
import './style/base.css'
import './style/controls.css'
import './style/frame.css'
import './style/tables.css'
import './style/sandbox.css'
import './style/cells.css'
import './style/gateway.css'
import './style/pages.css'
import './style/over.css'
import './style/narrow.css'
import { attempt, Confirmation, Dialog, Failed, Guard, Toasts } from './ui'
import { Webhooks } from './webhooks/list'
import { WebhookPage } from './webhooks/page'

interface Place {
  to: string
  name: string
  key: string
  icon: string
  shown: () => boolean
}

const PLACES: Place[] = [
  { to: '/overview', name: 'Overview', key: 'o', icon: 'M3 12l9-8 9 8M6 10v10h12V10', shown: () => may.value.all || team.value?.scope === 'read' },
  { to: '/', name: 'Sandboxes', key: 's', icon: 'M4 7l8-4 8 4v10l-8 4-8-4zM4 7l8 4 8-4M12 11v10', shown: () => true },
  { to: '/templates', name: 'Templates', key: 't', icon: 'M4 4h16v5H4zM4 13h7v7H4zM15 13h5v7h-5z', shown: () => may.value.seeTemplates },
  { to: '/volumes', name: 'Volumes', key: 'v', icon: 'M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3v12c0 1.7-3.6 3-8 3s-8-1.3-8-3zM4 6c0 1.7 3.6 3 8 3s8-1.3 8-3M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3', shown: () => may.value.see },
  { to: '/secrets', name: 'Secrets', key: 'e', icon: 'M6 11h12v10H6zM8 11V7a4 4 0 0 1 8 0v4M12 15v2', shown: () => may.value.all },
  { to: '/webhooks', name: 'Webhooks', key: 'w', icon: 'M4 12h11M11 7l5 5-5 5M20 4v16', shown: () => may.value.see },
  { to: '/keys', name: 'API keys', key: 'k', icon: 'M14 10a4 4 0 1 0-2.8 3.8L13 16h2v2h2v2h3v-3l-6.2-6.2M9 9h.01', shown: () => may.value.all },
  { to: '/members', name: 'Members', key: 'm', icon: 'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21v-1a7 7 0 0 1 14 0v1M16 3.5a4 4 0 0 1 0 7M18.5 14a7 7 0 0 1 3.5 6v1', shown: () => may.value.all },
  { to: '/limits', name: 'Limits', key: 'l', icon: 'M4 18a9 9 0 1 1 16 0M12 15l4-5', shown: () => may.value.all },
  { to: '/audit', name: 'Audit log', key: 'a', icon: 'M6 3h9l4 4v14H6zM9 12h7M9 16h7M9 8h3', shown: () => may.value.all },
]

const lost = signal('')
const help = signal(false)

function Page() {
  const at = path.value
  const one = /^\/sandboxes\/([a-z0-9]{1,40})(?:\/([a-z]+))?$/.exec(at)
  if (one) return <SandboxPage key={one[1]} id={one[1]!} tab={one[2] ?? 'terminal'} />
  const template = /^\/templates\/([a-z0-9]{1,40})$/.exec(at)
  if (template) return template[1] === 'new' ? <NewTemplate /> : <TemplatePage key={template[1]} id={template[1]!} />
  const [, kind, id] = /^\/(volumes|webhooks)\/([\w-]{1,64})$/.exec(at) ?? []
  if (kind === 'volumes') return <VolumePage key={id} id={id!} />
  if (kind === 'webhooks') return <WebhookPage key={id} id={id!} />
  const pages: Record<string, ComponentType> = {
    '/': Sandboxes,
    '/sandboxes': Sandboxes,
    '/overview': Overview,
    '/templates': Templates,
    '/volumes': Volumes,
    '/secrets': Secrets,
    '/webhooks': Webhooks,
    '/keys': Keys,
    '/members': Members,
    '/limits': LimitsPage,
    '/audit': Audit,
  }
  const Found = pages[at]
  if (Found) return <Found />
  return (
    <section>
      <h1>There is no such page</h1>
      <p>
        <a href={href('/')}>All sandboxes</a>
      </p>
    </section>
  )
}

function Shell() {
  const known = session.value!
  const first = '/' + (path.value.split('/')[1] ?? '')
  const here = first === '/sandboxes' ? '/' : first
  const places = useRef<HTMLUListElement>(null)
  const one = /^\/(?:sandboxes|templates|volumes|webhooks)\/([\w-]{1,64})/.exec(path.value)?.[1]
  const title = [one, PLACES.find(({ to }) => to === here)?.name, 'Cay'].filter(Boolean).join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
  // On a phone the places are a strip, wider than the window.
  useEffect(() => {
    places.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [here])
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <nav aria-label="Main">
        <a class="brand" href={href('/')}>
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <path d="M5 19c4-1 5-3 11-3s7 2 11 3c-2 5-6 7-11 7s-9-2-11-7z" fill="currentColor" />
            <path d="M16 15V4l7 7" fill="none" stroke="currentColor" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round" />
          </svg>
          <b>Cay</b>
        </a>
        <ul ref={places}>
          {PLACES.filter(({ shown }) => shown()).map(({ to, name, key, icon }) => (
            <li key={to}>
              <a href={href(to)} aria-current={here === to ? 'page' : undefined} title={`g ${key}`}>
                <svg viewBox="0 0 24 24" aria-hidden="true">
                  <path d={icon} />
                </svg>
                <span>{name}</span>
              </a>
            </li>
          ))}
        </ul>
        <div class="who">
          {(known.teams?.length ?? 0) > 1 ? (
            <select aria-label="Team" value={team.value?.id} onChange={(e) => chooseTeam(e.currentTarget.value)}>
              {known.teams!.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          ) : (
            <span class="team">{team.value?.name}</span>
          )}
          <span class="name" title={known.name}>
            {known.name} · {team.value?.scope}
          </span>
          <div class="row">
            <ThemeButton />
            <button type="button" class="icon" aria-label="Keyboard shortcuts" title="?" onClick={() => (help.value = true)}>
              ?
            </button>
            <button type="button" class="quiet" id="sign-out" onClick={() => attempt(signOut)}>
              Sign out
            </button>
          </div>
        </div>
      </nav>
      <main id="main">
        {trouble.value && (
          <p class="banner" role="status">
            Not live: {trouble.value}. Trying again…
          </p>
        )}
        <Guard key={path.value}>
          <Page />
        </Guard>
      </main>
      {help.value && (
        <Dialog title="Keyboard" onClose={() => (help.value = false)}>
          <dl class="keys">
            <dt>
              <kbd>/</kbd>
            </dt>
            <dd>search</dd>
            {PLACES.filter(({ shown }) => shown()).map(({ key, name }) => [
              <dt key={key}>
                <kbd>g</kbd> <kbd>{key}</kbd>
              </dt>,
              <dd key={name}>{name.toLowerCase()}</dd>,
            ])}
            <dt>
              <kbd>c</kbd>
            </dt>
            <dd>create a sandbox</dd>
            <dt>
              <kbd>?</kbd>
            </dt>
            <dd>this list</dd>
          </dl>
        </Dialog>
      )}
    </>
  )
}

const THEMES = ['auto', 'light', 'dark']
const theme = signal(read('theme') ?? 'auto')

function applyTheme(): void {
  if (theme.value === 'auto') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme.value
}
applyTheme()

function ThemeButton() {
  const change = () => {
    theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!
    write('theme', theme.value)
    applyTheme()
  }
  return (
    <button type="button" class="icon" aria-label={`Colours: ${theme.value}`} title={`Colours: ${theme.value}`} onClick={change}>
      {{ auto: '◐', light: '☀', dark: '☾' }[theme.value] ?? '◐'}
    </button>
  )
}

let begun = 0
function shortcuts(event: KeyboardEvent): void {
  const target = event.target as HTMLElement
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest('input, textarea, select, dialog, .tty')) return
  const place = PLACES.find(({ key, shown }) => key === event.key && shown())
  if (Date.now() - begun < 1200 && place) {
    begun = 0
    go(place.to)
  } else if (event.key === 'g') begun = Date.now()
  else if (event.key === '?') help.value = true
  else if (event.key === '/') document.querySelector<HTMLInputElement>('input[type=search]')?.focus()
  else if (event.key === 'c') document.querySelector<HTMLButtonElement>('#create')?.click()
  else return
  event.preventDefault()
}

function App() {
  useEffect(() => {
    loadSession().catch((e: unknown) => (lost.value = message(e)))
    addEventListener('keydown', shortcuts)
  }, [])
  if (lost.value && !session.value) return <Failed text={lost.value} />
  if (!session.value) return null
  return (
    <>
      {session.value.signedIn ? <Shell /> : <SignIn />}
      <Confirmation />
      <Toasts />
    </>
  )
}

render(<App />, document.getElementById('app')!)
