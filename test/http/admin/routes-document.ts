import type { Task } from '../../../src/admin/task.ts'
import { TASKS } from '../../../src/admin/tasks.ts'
import { withParts } from '../../../src/cli/docs/generated-parts.ts'

export const ADMINISTRATION_PAGE = 'docs/administration.md'

/** docs/administration.md, with its routes as the table of tasks has them. */
export function administrationPage(): string {
  return withParts(ADMINISTRATION_PAGE, [{ page: ADMINISTRATION_PAGE, name: 'routes', text: routes() }])
}

/** The routes by their path, each method with the access that it needs if the method does not say it, and with the name of its task. */
function routes(): string {
  const tasks: readonly Task[] = TASKS
  const rows = [...Map.groupBy(tasks, ({ path }) => path)].map(
    ([path, ofPath]) => `- \`${path}\`: ${ofPath.map(describe).join(', ')}`,
  )
  return [...rows, ''].join('\n')
}

function describe({ method, access, extent, name }: Task): string {
  const isUsual = access === (method === 'GET' ? 'read' : 'write')
  const rights = isUsual ? [] : [access === 'read-people' ? 'people' : access]
  return [`\`${method}\``, ...rights, ...(extent === 'organization' ? ['✓'] : []), `\`${name}\``].join(' ')
}
