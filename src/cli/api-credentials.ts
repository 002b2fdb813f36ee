import type { Command } from 'commander'
import { API } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

/** `grantor api create-credentials` */
export function addApiCredentials(parent: Command, terminal: Terminal): void {
  addTaskVerb<{ readonly resource: string; readonly id: string; readonly secret: string }>(parent, terminal, {
    verb: 'create-credentials',
    task: 'api.create-credentials',
    subjects: [API],
    say: ({ resource, id, secret }) => [
      `${resource} asks at /v2/oauth/introspect by HTTP Basic:`,
      `  user      ${id}`,
      `  password  ${secret}`,
      'The password is not shown again. Running servers know it within a second.',
    ],
  })
}
