import type { Task } from '../../../src/admin/task.ts'
import { TASKS } from '../../../src/admin/tasks.ts'
import { withParts } from '../../../src/cli/docs/generated-parts.ts'

export const ADMINISTRATION_PAGE = 'docs/administration.md'

/** docs/administration.md, with its routes as the table of tasks has them. */
export function administrationPage(): string {
  return withParts(ADMINISTRATION_PAGE, [{ page: ADMINISTRATION_PAGE, name: 'routes', text: routes() }])
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
