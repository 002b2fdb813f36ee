import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { frontPage } from '../../site/front.ts'
import { isSearched, NAVIGATION, sitePages, slugsOf } from '../../site/navigation.ts'

const read = (path: string): string => readFileSync(path, 'utf8')
const slugs = [...sitePages().values()]

test('site/navigation.json has each page of docs/ once, and no page that does not exist', () => {
  const named = NAVIGATION.flatMap((group) => slugsOf(group, slugs))
  assert.ok(named.length > 50)
  assert.deepEqual(named.toSorted(), slugs.toSorted())
})

test('the search of the site finds the manual, and neither evidence nor records', () => {
  for (const slug of ['mcp', 'operations/backup', 'security']) assert.ok(isSearched(slug, slugs), slug)
  for (const slug of ['proofs', 'decisions', 'decisions/0001-layers']) assert.ok(!isSearched(slug, slugs), slug)
})

test('the front page of the site finds its parts in the README and in the newest results', () => {
  const front = frontPage(read('site/front.md'), {
    version: '0.1.0',
    readme: read('README.md'),
    threats: read('test/threats.md'),
    requirements: read('test/mcp.md'),
    restarts: read('prove/results/restarts.jsonl'),
  })
  for (const part of [
    /npm install/,
    /createRemoteJWKSet/,
    /\| Keycloak \|/,
    /\*\*Grantor is new/,
    /\*\*[\d,]+\*\* acknowledged/,
  ])
    assert.match(front, part)
})

test('no page of docs/ has the address of another page of the site', () => {
  const folders = globSync('docs/*/README.md').map((path) => path.slice('docs/'.length, -'/README.md'.length))
  assert.equal(new Set(slugs).size, slugs.length)
  for (const folder of folders) assert.ok(slugs.includes(folder), folder)
})
