// A desktop: the client starts the screen and Xfce itself, then sees and touches it.
import assert from 'node:assert/strict'
import { done, require, until } from './software.mjs'

const { Sandbox } = require('@e2b/desktop')

/** Width and height as the header of a PNG says. */
function sizeOf(png) {
  const view = new DataView(png.buffer, png.byteOffset)
  assert.equal(view.getUint32(0), 0x89504e47, 'a PNG')
  return { width: view.getUint32(16), height: view.getUint32(20) }
}

async function firstMessage(url) {
  const socket = new WebSocket(url)
  socket.binaryType = 'arraybuffer'
  try {
    return await new Promise((resolve, reject) => {
      socket.onmessage = ({ data }) => resolve(Buffer.from(data).toString())
      socket.onerror = (event) => reject(new Error(event.message))
      setTimeout(() => reject(new Error('the socket said nothing')), 30_000).unref()
    })
  } finally {
    socket.close()
  }
}

const desktop = await Sandbox.create({ resolution: [1280, 720] })
try {
  assert.deepEqual(await desktop.getScreenSize(), { width: 1280, height: 720 })
  await desktop.moveMouse(300, 200)
  assert.deepEqual(await desktop.getCursorPosition(), { x: 300, y: 200 })

  await desktop.launch('xfce4-terminal')
  const [window] = await until('a window', () => desktop.getApplicationWindows('xfce4-terminal'))
  assert.match(await desktop.getWindowTitle(window), /Terminal/)
  await until('the focus', async () => (await desktop.getCurrentWindowId()) === window)
  await until('a shell that reads', async () => {
    await desktop.write(' echo typed "on" the \'desktop\' > /tmp/typed')
    await desktop.press('enter')
    return (await desktop.files.read('/tmp/typed')) === 'typed on the desktop\n'
  })

  await desktop.leftClick(640, 700)
  await desktop.rightClick(1200, 600)
  await desktop.press('escape')
  await desktop.middleClick(1200, 600)
  await desktop.doubleClick(1200, 600)
  await desktop.scroll('down', 2)
  await desktop.drag([1000, 500], [1100, 600])
  await desktop.press(['ctrl', 'shift', 't'])
  await desktop.wait(100)

  const before = await desktop.screenshot()
  assert.deepEqual(sizeOf(before), { width: 1280, height: 720 })
  assert.ok(before.length > 5000, `a screen that is not empty has more than ${before.length} bytes`)
  await desktop.open('/etc/hostname')
  await until('another picture', async () => Buffer.compare(before, await desktop.screenshot()) !== 0)

  await desktop.stream.start({ requireAuth: true })
  const url = new URL(desktop.stream.getUrl({ authKey: desktop.stream.getAuthKey() }))
  assert.match(await (await fetch(url)).text(), /noVNC/)
  assert.match(await firstMessage(`wss://${url.host}/websockify`), /^RFB 003\.008/)
  await assert.rejects(desktop.stream.start(), /already running/)
  await desktop.stream.stop()
  await until('the end of the stream', async () => !(await desktop.stream.checkVNCRunning()))
  await desktop.stream.start()
  await desktop.stream.stop()
} finally {
  await desktop.kill()
}
done()
