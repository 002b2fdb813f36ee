import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { COMMAND, packFolder } from '../../release/build.ts'
import { temporaryFolder } from '../support/server.ts'
import { walkPackage } from './walk-package.ts'

/** Faults that a checkout need not show, and what artefact.test.ts then says. */
const PLANTED: Readonly<
  Record<string, { readonly file: string; readonly change: (text: string) => string; readonly found: RegExp }>
> = {
  'a package that package.json does not declare': {
    file: 'src/server/server.ts',
    change: (text) => `import 'fast-check'\n${text}`,
    found: /ERR_MODULE_NOT_FOUND[^]*fast-check|Cannot find package 'fast-check'/,
  },
  'a missing migration': {
    file: 'release/build.ts',
    change: (text) => text.replace('`src/${MIGRATIONS}/*.sql`', '`src/${MIGRATIONS}/*.sq`'),
    found: /no such table|did not start|ended with 1/,
  },
  'a name of browsers in src/server': {
    file: 'src/server/sqlite.ts',
    change: (text) => `${text}\nexport const title = (): string => document.title\n`,
    found: /The compiler does not accept the sources:[^]*Cannot find name 'document'/,
  },
}

const root = temporaryFolder({ after: (end: unknown): void => after(end as () => unknown) })

for (const [name, { file, change, found }] of Object.entries(PLANTED)) {
  test(`the package is refused with ${name}`, async () => {
    const clone = join(root, file.replaceAll('/', '-'))
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', '.', clone])
    symlinkSync(join(process.cwd(), 'node_modules'), join(clone, 'node_modules'))
    const text = readFileSync(join(clone, file), 'utf8')
    assert.notEqual(change(text), text)
    writeFileSync(join(clone, file), change(text))
    const built = spawnSync(process.execPath, ['release/build.ts'], { cwd: clone, encoding: 'utf8' })
    const said = built.status === 0 ? await walkBuilt(clone) : built.stderr
    assert.match(said, found)
  })
}

/** What is said of the package that was built in a checkout. */
async function walkBuilt(clone: string): Promise<string> {
  const packed = packFolder(join(clone, 'dist/package'), COMMAND)
  // Beside the clone, whose packages a folder in it would find.
  return walkPackage(`${clone}-project`, packed).then(
    (violations) => violations.join('\n'),
    (cause: unknown) => String(cause),
  )
}
