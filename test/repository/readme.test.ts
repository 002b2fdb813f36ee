import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { COMPARISON, comparisonPage, findFaults } from './comparison.ts'
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

test('docs/comparison.json has a page of the maker and a day for each cell, and docs/comparison.md is made of it', () => {
  assert.deepEqual(findFaults(COMPARISON), [])
  assert.equal(readFileSync('docs/comparison.md', 'utf8'), comparisonPage(COMPARISON), 'Run: npm run docs')
})

test('a cell of the comparison without a source, a day or a product is found', () => {
  const others = {
    A: { text: '✓', source: '', read: '' },
    B: { text: '', source: 'https://b.example', read: '2026-11-29' },
  }
  assert.deepEqual(findFaults({ products: ['A'], rows: [{ about: 'Row', grantor: '✓', others }] }), [
    'Row, A: no source.',
    'Row, A: no day.',
    'Row: B is no product of the table.',
    'Row, B: the cell is empty.',
  ])
})

test('the comparison of the README says what docs/comparison.json says', () => {
  const table = (README.split('## How it compares')[1] ?? '').split('\n## ')[0]?.match(/^\|.*\|$/gm) ?? []
  const cellsOf = (row = ''): readonly string[] =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
  const [, , ...products] = cellsOf(table[0])
  const rows = table.slice(2).map(cellsOf)
  assert.ok(rows.length >= 5)
  for (const [about = '', grantor, ...cells] of rows) {
    const row = COMPARISON.rows.find((one) => one.about === about)
    assert.ok(row, about)
    assert.equal(grantor, row.grantor, about)
    assert.deepEqual(
      cells,
      products.map((product) => row.others[product]?.text ?? ''),
      about,
    )
  }
})
