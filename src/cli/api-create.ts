import type { Command } from 'commander'
import { addApiOptions, apiWish, type ApiOptions } from './api-options.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { KeptApiDocument } from '../admin/api-tasks.ts'

/** `grantor api create` */
export function addApiCreate(parent: Command, terminal: Terminal): void {
  addTaskVerb<KeptApiDocument, ApiOptions & { readonly resource: string }>(parent, terminal, {
    verb: 'create',
    task: 'api.create',
    whenMissing: 'create',
    options: (command) =>
      addApiOptions(
        command.requiredOption('--resource <uri>', 'its identifier, as clients ask for it and tokens name it'),
      ),
    input: (options) => ({ resource: options.resource, ...apiWish(options) }),
    say({ resource, scopes, notice }) {
      const names = scopes.map(({ name }) => name).join(', ')
      return [
        `Declared ${resource} ${names === '' ? 'without scopes' : `with ${names}`}.`,
        'Running servers know it within a second.',
        ...(notice === null ? [] : [notice]),
      ]
    },
  })
}
