import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Writes the pages, and builds the site of them in `site/dist`, or with `dev` serves it while its files change. */

await import('./pages.ts')
const astro = join(import.meta.dirname, 'node_modules', 'astro', 'bin', 'astro.mjs')
const { status } = spawnSync(process.execPath, [astro, ...process.argv.slice(2)], {
  cwd: import.meta.dirname,
  stdio: 'inherit',
  env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' },
})
process.exitCode = status ?? 1
