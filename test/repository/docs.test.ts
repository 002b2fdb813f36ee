import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { AUTHORIZATION_FAULTS } from '../../src/protocol/authorization-request.ts'
import { listRefusals } from '../../src/protocol/errors.ts'
import { ARCHITECTURE_PAGE, architecturePage } from './layout.ts'
import { listClaims, rfcCoveragePage, SECURITY_CASES, securityCasesPage } from './titles.ts'

const read = (path: string): string => readFileSync(path, 'utf8')

test('docs/errors.md explains every code and every reason, and no other', () => {
  const sections = new Map(
    read('docs/errors.md')
      .split(/^### /m)
      .slice(1)
      .map((section) => [
        section.slice(0, section.indexOf('\n')),
        [...section.matchAll(/^\| `([a-z0-9_]+)`/gm)].map(([, reason]) => reason),
      ]),
  )
  for (const { code, reasons } of listRefusals()) assert.deepEqual(sections.get(code), [...reasons], code)
  assert.deepEqual(sections.get('Authorization requests'), Object.keys(AUTHORIZATION_FAULTS))
  assert.equal(sections.size, listRefusals().length + 1)
})

test('docs/errors.md gives every code its status and tells a client what to do', () => {
  const rows = read('docs/errors.md').split('## What a client should do')[1]?.split('##')[0] ?? ''
  for (const { code, status } of listRefusals())
    assert.match(rows, new RegExp(`^\\| \`${code}\` \\| [^|]*\\b${status}\\b`, 'm'))
})

test('docs/errors.md explains every type of problem', () => {
  const source =
    /export type ProblemType =((?:\n {2}\| '[a-z_]+')+)/.exec(read('src/protocol/validation.ts'))?.[1] ?? ''
  const types = [...source.matchAll(/'([a-z_]+)'/g)].map(([, type]) => type)
  const section = read('docs/errors.md').split('## Kinds of problem')[1]?.split('\n## ')[0] ?? ''
  assert.deepEqual(
    [...section.matchAll(/^\| `([a-z_]+)`/gm)].map(([, type]) => type),
    types,
  )
})

test('every reason is used by the code', () => {
  const texts = globSync('src/**/*.ts')
    .filter((path) => !path.endsWith('protocol/refusals.ts'))
    .map(read)
  const used = new Set(texts.flatMap((text) => [...text.matchAll(/'([a-z0-9_]+)'/g)].map(([, word]) => word)))
  for (const { reasons } of listRefusals()) for (const reason of reasons) assert.ok(used.has(reason), reason)
})

test('every security case of this release has a test', () => {
  const titles = listClaims().map(({ title }) => title)
  const untested = SECURITY_CASES.filter(
    (id) => !titles.some((title) => title.slice(0, title.indexOf(':') + 1).includes(id)),
  )
  assert.deepEqual(untested, [])
})

test('docs/security-cases.md is what "npm run docs" makes', () => {
  assert.equal(read('docs/security-cases.md'), securityCasesPage(listClaims()))
})

test('docs/rfc-coverage.md is what "npm run docs" makes', () => {
  assert.equal(read('docs/rfc-coverage.md'), rfcCoveragePage(listClaims()))
})

test('docs/architecture.md has the table of layers that "npm run docs" makes', () => {
  assert.equal(read(ARCHITECTURE_PAGE), architecturePage())
})
