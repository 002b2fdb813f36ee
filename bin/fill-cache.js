// What `npm install` runs last: everything that a server may load is compiled and kept, so that the first start is as fast as
// the later ones. Nothing depends on it, and an installation does not fail because of it.
import { isInstalled, isNewEnough } from './this-node.js'

const LOADED = [
  'cli/main.ts',
  'store/sqlite/store.ts',
  'store/postgres/store.ts',
  'store/postgres/when-reachable.ts',
  'admin/openapi.ts',
]

if (isNewEnough && !isInstalled) {
  try {
    const { keepCompiled } = await import('./compile-cache.js')
    keepCompiled()
    for (const file of LOADED) await import('../src/' + file)
  } catch {
    // Whoever starts the server is told what is wrong.
  }
}
