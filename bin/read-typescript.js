// Lets Node read this package's TypeScript below node_modules, where it refuses to by itself: the types are stripped the
// same way. Only files of this package are touched.
import { readFileSync } from 'node:fs'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'

const source = new URL('../src/', import.meta.url).href

registerHooks({
  load(url, context, next) {
    if (!url.startsWith(source) || !url.endsWith('.ts')) return next(url, context)
    return {
      format: 'module',
      shortCircuit: true,
      source: stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8')),
    }
  },
})
