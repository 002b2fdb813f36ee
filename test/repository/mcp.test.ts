import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MCP_REQUIREMENTS, MCP_REVISION } from './mcp-requirements.ts'

const PAGE = readFileSync('test/mcp.md', 'utf8')
const ROWS = (PAGE.match(/^\| MCP-.*\|$/gm) ?? []).map((row) => row.slice(2, -2).split(' | '))

test('test/mcp.md answers each requirement of the revision of MCP that it names, and no other', () => {
  assert.ok(PAGE.includes(`modelcontextprotocol.io/specification/${MCP_REVISION}/basic/authorization`))
  assert.deepEqual(
    ROWS.map(([id, , level]) => [id, level]),
    Object.entries(MCP_REQUIREMENTS).map(([id, { level }]) => [id, level]),
  )
})

test('each row of test/mcp.md about Grantor or the MCP server names a test that exists', () => {
  for (const [id, , , of = '', , shown = ''] of ROWS) {
    const [, path] = /\]\(([^)]+)\)$/.exec(shown) ?? []
    assert.ok(path === undefined ? of === 'client' : existsSync(join('test', path)), `${id}: ${shown}`)
  }
})
