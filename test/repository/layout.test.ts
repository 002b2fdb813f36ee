import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { findLostPaths } from './comments.ts'
import { findBannedPhrases, findLongTitles } from './language.ts'
import { countImports, findConflicts, findDisorder, packagesOfLayers, type SourceFile } from './layout.ts'
import { listClaims } from './titles.ts'

const files: readonly SourceFile[] = globSync('{src,test,tools,bench,prove}/**/*.{ts,js}', {
  exclude: ['bench/peers/**'],
}).map(readSource)
const others = globSync(['{release,bin}/**/*.{ts,js}', 'src/**/*.sql']).map(readSource)
/** Generated pages repeat what is checked where it comes from. */
const pages = globSync('{README,CHANGELOG,CONTRIBUTING,SECURITY,docs/**/*}.md').map(readSource)

function readSource(path: string): SourceFile {
  return { path, text: readFileSync(path, 'utf8') }
}

test('every file follows the rules of the source tree', () => {
  assert.ok(countImports(files) > 200, 'too few imports were found to have been read')
  assert.deepEqual(findDisorder(files), [])
})

test('a layer may import only packages that are dependencies', () => {
  const { dependencies = {}, peerDependencies = {} } = JSON.parse(readFileSync('package.json', 'utf8')) as Readonly<
    Record<string, Readonly<Record<string, string>> | undefined>
  >
  const known = Object.keys({ ...dependencies, ...peerDependencies })
  assert.deepEqual(
    packagesOfLayers().filter((name) => !known.includes(name)),
    [],
  )
})

test('no file has a banned phrase', () => {
  assert.ok(pages.length > 20, 'too few pages were found to have been read')
  const written = [...files, ...pages].filter(
    ({ path }) => !/^test\/repository\/(language|layout\.test)\.ts$/.test(path),
  )
  assert.deepEqual(findBannedPhrases(written), [])
})

for (const [line, phrase] of [
  ['// This belongs into the body.', 'belongs into'],
  ['// What whoever asks must know.', 'whoever'],
  ['/** Answers the client. */', 'Answers'],
  ['- What is wrong is told at once.', 'told'],
  ['The limit is none.', 'is none'],
  ['The scope stands in the token.', 'stands'],
  ['The token is dead.', 'dead'],
  ['The client is not used any more.', 'any more'],
  ['0 keeps the audit for ever.', 'for ever'],
  ['Grantor inside of your program.', 'inside of'],
  ['The provider where alone the user may sign in.', 'where alone'],
  ['The client is one of the operator.', 'one of the operator'],
  ['The page signs nobody in.', 'nobody'],
] as const) {
  test(`a planted phrase is found: ${phrase}`, () => {
    const found = findBannedPhrases([{ path: 'docs/bad.md', text: `# Page\n${line}\n` }])
    assert.equal(found.length, 1, found.join(' | '))
    assert.match(found[0] ?? '', new RegExp(`docs/bad.md:2: ".*${phrase}.*"; write: `))
  })
}

test('the claim of each title has at most 120 characters', () => {
  const claims = listClaims()
  assert.ok(claims.length > 1000, 'too few titles were found to have been read')
  assert.deepEqual(findLongTitles(claims), [])
})

test('a planted title that is too long is found, and what it cites does not count', () => {
  const file = 'test/bad.test.ts'
  const claim = 'x'.repeat(120)
  assert.deepEqual(findLongTitles([{ title: `RFC 7009 §2.2: ${claim}`, file }]), [])
  assert.match(findLongTitles([{ title: `RFC 7009 §2.2: ${claim}x`, file }]).join(), /^test\/bad\.test\.ts: 121 /)
})

test('no file or page has a conflict of a merge, and a planted one is found', () => {
  const planted = { path: 'docs/bad.md', text: `a\n${'<'.repeat(7)} HEAD\nb` }
  assert.deepEqual(findConflicts([...files, ...pages, planted]), ['docs/bad.md'])
})

const PLANTED: readonly (readonly [rule: string, file: SourceFile])[] = [
  [
    'protocol may not import from ports',
    { path: 'src/protocol/bad.ts', text: `import type { Store } from '../ports/store.ts'` },
  ],
  [
    'endpoints/token may not import from endpoints/authorization',
    { path: 'src/endpoints/token/bad.ts', text: `import { a } from '../authorization/session.ts'` },
  ],
  [
    'endpoints may not import from store',
    { path: 'src/endpoints/bad.ts', text: `import { openBatchingStore } from '../store/turns.ts'` },
  ],
  [
    'endpoints may not import the package hono',
    { path: 'src/endpoints/bad.ts', text: `import { html } from 'hono/html'` },
  ],
  ['endpoints may not import node:fs', { path: 'src/endpoints/bad.ts', text: `export * from 'node:fs'` }],
  ['web may not import from http', { path: 'src/web/bad.ts', text: `const later = import('../http/app.ts')` }],
  [
    'store may not import from endpoints',
    { path: 'src/store/sqlite/bad.ts', text: `import { PATHS } from '../../endpoints/paths.ts'` },
  ],
  ['is no layer', { path: 'src/extra/bad.ts', text: `import { a } from '../protocol/ids.ts'` }],
  ['reads the clock', { path: 'src/protocol/bad.ts', text: `import './ids.ts'\nexport const now = Date.now()` }],
  ['only config.ts reads the environment', { path: 'src/http/bad.ts', text: `import './app.ts'\nprocess.env['PORT']` }],
  ['nothing is caught here', { path: 'src/endpoints/bad.ts', text: `import './token.ts'\ntry { x() } catch { y() }` }],
  ...[
    'const isKnown = client.verifiedAt !== undefined',
    `if (client.source === 'operator') allow()`,
    'const { id, source } = client',
    'const rule = policy.domains.ofHost(host)',
    `if (context.settings.registration === 'open') allow()`,
    'const { registration } = context.settings',
  ].map(
    (line) =>
      [
        'only client/policy.ts decides',
        { path: 'src/endpoints/bad.ts', text: `import './token.ts'\n${line}` },
      ] as const,
  ),
  ['exports are named', { path: 'src/http/bad.ts', text: `import './app.ts'\nexport default 1` }],
  ['a file is named for the thing', { path: 'src/http/utils.ts', text: `import './app.ts'` }],
  ['file names are kebab-case', { path: 'src/http/badName.ts', text: `import './app.ts'` }],
  ['the limit is', { path: 'src/http/bad.ts', text: `import './app.ts'\n${'const a = 1\n'.repeat(400)}` }],
  ['tools may not import from test', { path: 'tools/bad.ts', text: `import { a } from '../test/support/flow.ts'` }],
  [
    'bench may not import from prove',
    { path: 'bench/soak/bad.ts', text: `import { a } from '../../prove/findings.ts'` },
  ],
  ['the kit may not import', { path: 'prove/kit/cases/bad.ts', text: `import { a } from '../../../src/base/json.ts'` }],
  ['the kit may not import', { path: 'prove/kit/bad.ts', text: `import { a } from 'oauth4webapi'` }],
  ['must be imported with its ending', { path: 'src/http/bad.ts', text: `import { a } from './app'` }],
  ['Import cycle', { path: 'src/http/bad.ts', text: `import { a } from './bad.ts'` }],
  ['No imports were found', { path: 'src/http/bad.ts', text: `export const a = 1` }],
]

for (const text of [
  `import { request } from 'node:https'`,
  `import { createServer, request } from 'node:http'`,
  `import * as net from 'node:net'`,
  `import {\n  isIP,\n  connect,\n} from 'node:net'`,
  `import { lookup } from 'node:dns/promises'`,
  `const { connect } = process.getBuiltinModule('node:tls')`,
  `const { Agent } = process.getBuiltinModule('node:http')`,
  `const answer = await fetch('https://app.example')`,
  `const socket = new WebSocket('wss://app.example')`,
]) {
  test(`OUT-14: only one folder of the source opens connections; a planted violation is found: ${text}`, () => {
    const file = { path: 'src/keys/bad.ts', text: `import './key-ring.ts'\n${text}` }
    assert.deepEqual(findDisorder([file]), ['src/keys/bad.ts: only src/outbound/ opens connections.'])
    assert.deepEqual(findDisorder([{ ...file, path: 'src/outbound/good.ts' }]), [])
  })
}

test('a planted folder with more than 25 files is found', () => {
  const folder = Array.from({ length: 26 }, (_, index) => ({ path: `test/bad/file-${index}.ts`, text: '' }))
  const found = findDisorder([{ path: 'src/http/app.ts', text: `import './gate.ts'` }, ...folder])
  assert.deepEqual(found, ['test/bad: 26 files; the limit is 25.'])
})

test('a planted folder of files that have nothing to do with each other is found, and one import more makes it a folder', () => {
  const apart = ['one', 'two', 'three', 'four', 'five'].map((name) => ({
    path: `src/http/bad/${name}.ts`,
    text: `import '../app.ts'`,
  }))
  const joined = apart.map((file, index) => (index < 2 ? { ...file, text: `import './five.ts'` } : file))
  assert.deepEqual(findDisorder(apart), [
    'src/http/bad: most files neither import nor are imported by another one of the folder.',
  ])
  assert.deepEqual(findDisorder(joined), [])
})

for (const [rule, file] of PLANTED) {
  test(`a planted violation is found: ${rule}`, () => {
    assert.ok(
      findDisorder([file]).some((line) => line.includes(rule)),
      `${rule} was not among: ${findDisorder([file]).join(' | ')}`,
    )
  })
}

test('a file that a comment names exists, and a planted path is found', () => {
  const paths = globSync(['*.md', '{src,test,tools,bench,prove,release,bin,docs}/**/*.{ts,md,sql}'])
  assert.ok(others.length > 10, 'too few files were found to have been read')
  const planted = {
    path: 'src/store/bad.ts',
    text: '// See store/gone.ts, ./table.ts, store/table.ts and https://host/gone.ts.',
  }
  assert.deepEqual(findLostPaths([...files, ...others, planted], paths), [
    'src/store/bad.ts: a comment names store/gone.ts, which does not exist.',
  ])
})
