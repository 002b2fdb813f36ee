import type { Command } from 'commander'
import { readToken } from './ask-password.ts'
import { record } from './columns.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { TokenInspection } from '../admin/token-tasks.ts'

/** `grantor token inspect` */
export function addTokenInspect(parent: Command, terminal: Terminal): void {
  addTaskVerb<TokenInspection>(parent, terminal, {
    verb: 'inspect',
    task: 'token.inspect',
    options: (command) =>
      command.argument('[token]', 'the token; - reads it from standard input, so that nobody else sees it'),
    input: async (_, { stdin }, [token]) => ({ token: await readToken(stdin, token) }),
    say: (inspection, { paint }) => record({ ...inspection, resources: resourcesOf(inspection) }, paint),
  })
}

function resourcesOf({ kind, resources }: TokenInspection): TokenInspection['resources'] {
  return resources.length === 0 && kind !== 'unknown' ? ['none: the token is for the issuer'] : resources
}
