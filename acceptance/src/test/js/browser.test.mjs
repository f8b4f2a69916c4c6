// What people do with a sandbox's port in a browser.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { before, test } from 'node:test'
import { Readable } from 'node:stream'
import { startBrowser } from './browser.mjs'
import { until } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

let box
let browser
before(async () => {
  box = await sandbox()
  browser = await startBrowser(box.getHost(8000))
})

const answers = (url) => until(url, async () => (await fetch(url).catch(() => ({}))).status === 200)

test('a Vite dev server shows a change without loading the page again', async () => {
  await uploadVite()
  await box.files.write([
    { path: 'app/vite.config.js', data: 'export default { server: { allowedHosts: true } }' },
    { path: 'app/index.html', data: '<!doctype html><p id=text></p><script type=module src=/main.js></script>' },
    { path: 'app/main.js', data: `
import { text } from './text.js'
const show = (text) => (document.querySelector('#text').textContent = text)
show(text)
import.meta.hot.accept('./text.js', (changed) => show(changed.text))
window.kept = Math.random()` },
    { path: 'app/text.js', data: "export const text = 'first'" },
  ])
  const command = 'exec node node_modules/vite/bin/vite.js --host 127.0.0.1 --port 5173 --strictPort'
  await box.commands.run(command, { cwd: '/home/user/app', background: true, timeoutMs: 0 })
  const url = `https://${box.getHost(5173)}/`
  await answers(url)

  const page = await browser.open(url)
  await page.waitFor("document.querySelector('#text')?.textContent === 'first'")
  const kept = await page.value('window.kept')
  // The page hears of changes from the moment its WebSocket stands, which it does not tell: so it is changed until it does.
  let changes = 0
  await until('the change', async () => {
    await box.files.write('app/text.js', `export const text = 'change ${++changes}'`)
    return page.value("document.querySelector('#text').textContent.startsWith('change')")
  })
  assert.equal(await page.value('window.kept'), kept, 'the page was not loaded again')
})

/** Vite as npm installed it on this host: sandboxes need no way to a registry for this. */
async function uploadVite() {
  const tar = spawn('tar', ['-C', process.env.CAY_VITE, '-czf', '-', 'node_modules'], { stdio: ['ignore', 'pipe', 'inherit'] })
  await box.files.write('app/vite.tar.gz', Readable.toWeb(tar.stdout))
  await box.commands.run('tar xzf vite.tar.gz && rm vite.tar.gz', { cwd: '/home/user/app' })
}

// Each event is sent when the page has answered the one before, so anything that holds them back stops the page.
const EVENTS = `
import http.server, queue, urllib.parse
answered = queue.Queue()
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        path = urllib.parse.urlparse(self.path)
        if path.path == '/events': return self.events()
        if path.path == '/answer': answered.put(path.query)
        body = open('page.html', 'rb').read() if path.path == '/' else b''
        self.send_response(200)
        self.send_header('Content-Type', 'text/html')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def events(self):
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.send_header('Cache-Control', 'no-cache')
        self.send_header('Connection', 'close')
        self.end_headers()
        first = int(self.headers.get('Last-Event-ID', 0)) + 1
        for number in range(first, first + 5):
            self.wfile.write(b'retry: 50\\nid: %d\\nevent: output\\ndata: {"line": %d}\\n\\n' % (number, number))
            self.wfile.flush()
            while answered.get(timeout=60) != str(number): pass
        self.close_connection = True
http.server.ThreadingHTTPServer(('127.0.0.1', 8000), Handler).serve_forever()
`
const PAGE = `<!doctype html><script>
window.heard = []
const source = new EventSource('/events')
source.addEventListener('output', (event) => {
  heard.push(JSON.parse(event.data).line)
  fetch('/answer?' + event.lastEventId)
})
</script>`

test('server-sent events come one by one, and go on where a stream ended', async () => {
  await box.files.write([{ path: 'events.py', data: EVENTS }, { path: 'page.html', data: PAGE }])
  await box.commands.run('exec python3 events.py', { background: true, timeoutMs: 0 })
  const url = `https://${box.getHost(8000)}/`
  await answers(url)
  const page = await browser.open(url)
  await page.waitFor('heard.length >= 12')
  const heard = await page.value('heard')
  assert.deepEqual(heard, Array.from({ length: heard.length }, (_, i) => i + 1))
})

test('a closed port is a page that says so', async () => {
  const page = await browser.open(`https://${box.getHost(9999)}/`)
  const text = await page.waitFor("document.readyState === 'complete' && document.body.innerText")
  assert.match(text, /9999/)
  assert.equal(await page.value('document.contentType'), 'text/html')
})
