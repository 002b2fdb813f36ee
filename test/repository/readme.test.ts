import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { DEMO_EMAIL, welcomeLines } from '../../src/cli/serve/welcome.ts'

const README = readFileSync('README.md', 'utf8')

test('the README shows what the first start prints before anything that needs scrolling', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
  const lines = welcomeLines(
    {
      issuer: 'http://localhost:3000',
      version,
      isLoopbackIssuer: true,
      hasApis: false,
      logsRefusals: false,
      consoleUrl: 'http://localhost:3001',
      command: 'npm run -s grantor --',
      demo: { email: DEMO_EMAIL, password: '…' },
    },
    (_style, text) => text,
  )
  const blocks = [...README.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))
  assert.deepEqual(blocks[0], { language: 'sh', text: 'npm install && npm start\n' })
  assert.deepEqual(blocks[1], { language: '', text: `${lines.join('\n').trim().replace(/^/, '  ')}\n` })
  assert.ok(README.slice(0, README.indexOf('npm install && npm start')).split('\n').length < 15)
})

test('each cell of the comparison that is about another server leads to its source', () => {
  const rows =
    (README.split('## How it compares')[1] ?? '')
      .split('\n## ')[0]
      ?.match(/^\|.*\|$/gm)
      ?.slice(2) ?? []
  assert.ok(rows.length >= 5)
  for (const row of rows)
    for (const cell of row.split('|').slice(3, -1))
      assert.match(cell.trim(), /^(?:\[[^\]]+\]\(https:\/\/[^)]+\))?$/, row)
})
