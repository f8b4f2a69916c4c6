// The address: which page is shown, and the filters in its query.
import { computed, signal } from '@preact/signals'

const ROOT = '/dashboard'

export const address = signal(current())

function current(): string {
  return location.pathname.slice(ROOT.length) + location.search
}

export const path = computed(() => address.value.split('?')[0] || '/')
export const query = computed(() => new URLSearchParams(address.value.split('?')[1] ?? ''))

export const href = (to: string): string => ROOT + to

export function go(to: string, replace = false): void {
  if (to === address.value) return
  history[replace ? 'replaceState' : 'pushState'](null, '', href(to))
  address.value = to
}

/** Changes parameters of the query; empty ones are left out. */
export function setQuery(changes: Record<string, string>): void {
  const next = new URLSearchParams(query.value)
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value)
    else next.delete(name)
  }
  const text = next.toString()
  go(path.value + (text ? '?' + text : ''), true)
}

addEventListener('popstate', () => (address.value = current()))

// Links inside the dashboard load nothing.
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = (event.target as Element).closest?.('a')
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return
  if (link.pathname !== ROOT && !link.pathname.startsWith(ROOT + '/')) return
  event.preventDefault()
  go(link.pathname.slice(ROOT.length) + link.search)
})
