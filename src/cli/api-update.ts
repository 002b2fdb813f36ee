import type { Command } from 'commander'
import { addApiOptions, apiWish, type ApiOptions } from './api-options.ts'
import { UsageError } from './failure.ts'
import { API } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { KeptApiDocument } from '../admin/api-tasks.ts'

/** `grantor api update` */
export function addApiUpdate(parent: Command, terminal: Terminal): void {
  addTaskVerb<KeptApiDocument, ApiOptions>(parent, terminal, {
    verb: 'update',
    task: 'api.update',
    subjects: [API],
    options: (command) =>
      addApiOptions(command).addHelpText(
        'after',
        '\nScopes that are given replace all that it has. --name "" takes the name away.',
      ),
    input(options) {
      const wish = apiWish(options)
      if (Object.keys(wish).length === 0) throw new UsageError('Say what is to be different. See --help.')
      return wish
    },
    say: ({ resource, notice }) => [
      `Changed ${resource}. Running servers know it within a second; tokens that were issued stay as they are.`,
      ...(notice === null ? [] : [notice]),
    ],
  })
}
