import { defineConfig } from 'vite'

// `vite dev` uses the sign-in and the API of a Cay that runs: CAY_URL=http://127.0.0.1:3000 npx vite
const cay = process.env.CAY_URL ?? 'http://127.0.0.1:3000'
const proxy = { target: cay, headers: { Origin: cay }, changeOrigin: true }

export default defineConfig({
  base: '/dashboard/',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  server: { proxy: { '/dashboard/session': proxy, '/dashboard/api': proxy } },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 400,
    emptyOutDir: true,
  },
})
