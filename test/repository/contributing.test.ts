import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

interface Named {
  readonly symbol: string
  readonly file: string
}

/** "`one`, `two` and `three` in `src/server/server.ts`", also across lines. Folders are named without symbols. */
const NAMED = /((?:`\w+`(?:,\s+|\s+and\s+|\s+or\s+)?)+)\s+in\s+`((?:src|test)\/[\w./-]+\.ts)`/g

/** Returns each symbol that a page names, with its file. */
function namedIn(page: string): readonly Named[] {
  return [...page.matchAll(NAMED)].flatMap(([, symbols = '', file = '']) =>
    [...symbols.matchAll(/`(\w+)`/g)].map(([, symbol = '']) => ({ symbol, file })),
  )
}

/** Returns those that are not in the file that the page names. */
function missingOf(named: readonly Named[]): readonly Named[] {
  return named.filter(
    ({ symbol, file }) => !existsSync(file) || !new RegExp(`\\b${symbol}\\b`).test(readFileSync(file, 'utf8')),
  )
}

for (const path of globSync('docs/contributing/*.md', {
  exclude: ['docs/contributing/README.md'],
})) {
  test(`each symbol that ${path} names is in the file that it names`, () => {
    const named = namedIn(readFileSync(path, 'utf8'))
    assert.ok(named.length >= 5, 'A recipe names its places as: `symbol` in `src/file.ts`')
    assert.deepEqual(missingOf(named), [])
  })
}

test('a recipe with a symbol or a file that does not exist is found', () => {
  const page =
    'Add it to `Operations` and\n`Renamed` in `src/ports/operations/index.ts`, and `GRANTS` in `src/gone.ts`.'
  assert.deepEqual(missingOf(namedIn(page)), [
    { symbol: 'Renamed', file: 'src/ports/operations/index.ts' },
    { symbol: 'GRANTS', file: 'src/gone.ts' },
  ])
})

test('CONTRIBUTING.md names each script of package.json', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: object }
  const [, commands = ''] = readFileSync('CONTRIBUTING.md', 'utf8').split('## Commands')
  const named = new Set(
    [...commands.matchAll(/\bnpm (?:run )?(?:-s )?([a-z]+(?::[a-z]+)?)/g)].map(([, name = '']) => name),
  )
  assert.deepEqual(
    Object.keys(scripts).filter((name) => name !== 'postinstall' && !named.has(name)),
    [],
  )
})
