import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const read = (path: string): string => readFileSync(path, 'utf8')
const RECIPES = 'examples/resource-servers'
const PAGE = read('docs/resource-servers.md')

/** Files that only build a recipe, and clients that only the proof runs. */
const SCAFFOLD: ReadonlySet<string> = new Set([
  'fastmcp/browser.sh',
  'fastmcp/person.py',
  'fastmcp/requirements.txt',
  'go-oidc/go.mod',
  'go-oidc/go.sum',
  'mcp-go/go.mod',
  'mcp-go/go.sum',
  'mcp-go/person.go',
  'mcp-python/machine.py',
  'mcp-python/person.py',
  'mcp-python/requirements.txt',
  'mcp-python/storage.py',
  'pyjwt/requirements.txt',
  'spring/pom.xml',
  'spring/src/main/java/orders/Application.java',
  'spring/src/main/resources/application.yaml',
])

function blocksOf(page: string, languages: RegExp): readonly string[] {
  return [...page.matchAll(/^```([a-z]+)\n([\s\S]*?)^```$/gm)].flatMap(([, language = '', code = '']) =>
    languages.test(language) ? [code] : [],
  )
}

/** A part of a program, which endpoints/sign-in/step-up.test.ts runs. */
const STEP_UP = blocksOf(PAGE, /^js$/).find((code) => code.includes('insufficient_user_authentication')) ?? ''

test('docs/resource-servers.md and docs/mcp.md lead to each program that the proof runs, and show no text of one', () => {
  const files = globSync(`${RECIPES}/**/*.*`).map((path) => path.slice(RECIPES.length + 1))
  const wanted = files.filter((file) => !SCAFFOLD.has(file))
  assert.ok(wanted.length > 10)
  const pages = PAGE + read('docs/mcp.md')
  assert.deepEqual(
    wanted.filter((file) => !pages.includes(`](../${RECIPES}/${file})`)),
    [],
  )
  assert.deepEqual(
    blocksOf(PAGE, /^(?!sh)/).filter((code) => code !== STEP_UP),
    [],
  )
})

test('docs/resource-servers.md names the versions that the proof installs', () => {
  const pinned: readonly (readonly [row: string, file: string, version: RegExp])[] = [
    ['FastMCP', `${RECIPES}/fastmcp/requirements.txt`, /==(\S+)/],
    ['MCP Python SDK', `${RECIPES}/mcp-python/requirements.txt`, /==(\S+)/],
    ['PyJWT', `${RECIPES}/pyjwt/requirements.txt`, /==(\S+)/],
    ['go-oidc', `${RECIPES}/go-oidc/go.mod`, /go-oidc\/v3 v(\S+)/],
    ['Spring Security', `${RECIPES}/spring/pom.xml`, /<version>(.+)<\/version>\s*<relativePath/],
    ['jose', 'package.json', /"jose": "(.+)"/],
  ]
  for (const [row, file, version] of pinned) {
    const found = PAGE.split('\n').find((line) => line.startsWith('| [') && line.includes(row))
    assert.ok(found?.includes(version.exec(read(file))?.[1] ?? 'nothing'), row)
  }
})
