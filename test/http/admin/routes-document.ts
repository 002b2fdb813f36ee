import type { Task } from '../../../src/admin/task.ts'
import { TASKS } from '../../../src/admin/tasks.ts'
import { withParts } from '../../../src/cli/docs/generated-parts.ts'
import { openTerminal } from '../../../src/cli/lib/terminal.ts'
import { createProgram } from '../../../src/cli/program.ts'

export const ADMINISTRATION_PAGE = 'docs/administration.md'

/** docs/administration.md, with its routes as the table of tasks has them. */
export async function administrationPage(): Promise<string> {
  const { commands } = await createProgram(openTerminal(process, {}, 'grantor'), () => true)
  const verbs = commands.flatMap((noun) =>
    noun.commands.map((verb) => [verb.description(), `\`${noun.name()} ${verb.name()}\``] as const),
  )
  const text = routes(new Map(verbs))
  return withParts(ADMINISTRATION_PAGE, [{ page: ADMINISTRATION_PAGE, name: 'routes', text }])
}

/**
 * The routes, each with the access that it needs if its method does not say it, and with the command that performs the same task. The
 * description of a command is the summary of its task.
 */
function routes(commands: ReadonlyMap<string, string>): string {
  const rows = TASKS.map(({ method, path, access, extent, summary }: Task) => {
    const isUsual = access === (method === 'GET' ? 'read' : 'write')
    const rights = [
      ...(isUsual ? [] : [access === 'read-people' ? 'people' : access]),
      ...(extent === 'organization' ? ['✓'] : []),
    ]
    // What a command does with --organization has the summary of the task of the server in its own.
    const [, whole = summary] = /^For a member [^:]*: (.*)$/s.exec(summary) ?? []
    const command = commands.get(whole)
    const how = command === undefined || whole === summary ? command : `${command} with --organization`
    return `- ${[`\`${method} ${path}\``, ...rights].join(' ')}: ${how ?? summary}`
  })
  return [...rows, ''].join('\n')
}
