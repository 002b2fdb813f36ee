import { readFileSync } from 'node:fs'
import type { Task } from '../../../src/admin/task.ts'
import { TASKS } from '../../../src/admin/tasks.ts'

export const ADMINISTRATION_PAGE = 'docs/administration.md'

const START = '<!-- The routes, made by `npm run docs`. -->\n'
const END = '<!-- The end of the routes. -->\n'

/** docs/administration.md, with its routes as the table of tasks has them. */
export function administrationPage(): string {
  const page = readFileSync(ADMINISTRATION_PAGE, 'utf8')
  const [before, rest] = page.split(START)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined)
    throw new Error(`${ADMINISTRATION_PAGE} has no place for the routes.`)
  return `${before}${START}\n${routes()}\n${END}${after}`
}

function routes(): string {
  const nouns = Map.groupBy(TASKS, ({ name }) => name.split('.', 1)[0] ?? name)
  return [...nouns].map(([noun, tasks]) => `### ${noun}\n\n${rowsOf(tasks)}\n`).join('\n')
}

function rowsOf(tasks: readonly Task[]): string {
  const rows = tasks.map((task) => {
    const { method, path, access, extent, summary } = task
    return `| \`${method} ${path}\` | ${access} | ${extent === 'organization' ? '✓' : ''} | ${summary} |`
  })
  return ['| Route | Access | Own organization | What it does |', '|---|---|---|---|', ...rows].join('\n')
}
