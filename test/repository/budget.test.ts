import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { overBudget, type Budget } from './budget.ts'

const read = (path: string): string => readFileSync(path, 'utf8')
const BUDGET: Budget = JSON.parse(read('docs/budget.json'))

test('no page of docs/ has more words than docs/budget.json allows', () => {
  const pages = new Map(globSync('docs/**/*.md').map((path) => [path, read(path)]))
  assert.deepEqual(overBudget(BUDGET, pages), [])
})

test('README.md has no more lines than docs/budget.json allows', () => {
  const lines = read('README.md').trimEnd().split('\n').length
  assert.ok(lines <= BUDGET.readmeLines, `It has ${lines}, and ${BUDGET.readmeLines} are allowed.`)
})

test('the budget reports a page that is too long, new, removed or no short page, and a sum that is exceeded', () => {
  const budget = {
    sum: 1900,
    readmeLines: 1,
    pages: { 'docs/a.md': 50, 'docs/b.md': 950 },
    longPages: { 'docs/c.md': 950 },
  }
  const pages = new Map([
    ['docs/a.md', 'word '.repeat(51)],
    ['docs/b.md', '# B'],
    ['docs/new.md', '# A new\n\npage'],
  ])
  assert.deepEqual(overBudget(budget, pages), [
    'docs/a.md has 51 words, and 50 are allowed: shorten it, or write "docs/a.md": 100.',
    'docs/new.md has no row: write "docs/new.md": 50 below "pages" of docs/budget.json, at most 900.',
    'docs/c.md does not exist: remove its row.',
    'The row of docs/b.md allows 950 words: at most 900, or below "longPages".',
    'The rows have 1950 words together, and "sum" allows 1900: shorten a page.',
  ])
})
