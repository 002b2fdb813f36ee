// What `npm install` runs last. Plain old syntax on purpose: this file must run on any Node. Nothing depends on it, and an
// installation does not fail because of it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findBundledNode } from './other-node.js'
import { isNewEnough } from './this-node.js'

/** Everything that a server may load is compiled and kept, so that the first start is as fast as the later ones. */
const LOADED = [
  'cli/main.ts',
  'server/server.ts',
  'server/sqlite.ts',
  'store/postgres/store.ts',
  'store/postgres/when-reachable.ts',
  'admin/openapi.ts',
]

try {
  linkNode()
  await fillCache()
} catch {
  // Whoever starts the server is told what is wrong.
}

/**
 * Puts the Node that npm installed on the path of npm's scripts. npm 10 removes its link, together with those of the other
 * platforms' packages, which it does not install.
 */
function linkNode() {
  const node = findBundledNode()
  const folder = fileURLToPath(new URL('../node_modules/.bin', import.meta.url))
  const link = join(folder, 'node')
  if (node === undefined || process.platform === 'win32' || existsSync(link)) return
  mkdirSync(folder, { recursive: true })
  symlinkSync(relative(folder, node), link)
}

async function fillCache() {
  const node = findBundledNode()
  if (!isNewEnough && node !== undefined) {
    spawnSync(node, [fileURLToPath(import.meta.url)])
    return
  }
  if (!isNewEnough) return
  const { keepCompiled } = await import('./compile-cache.js')
  keepCompiled()
  for (const file of LOADED) await import('../src/' + file)
}
