import { InvalidArgumentError, type Command } from 'commander'
import { createApi, describeApi } from '../admin/apis.ts'
import type { ApiScope } from '../ports/records.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, withJson } from './verb.ts'

interface Options {
  readonly resource: string
  readonly name?: string
  readonly scope: readonly ApiScope[]
  readonly machineScope: readonly ApiScope[]
  readonly json?: true
}

/** `grantor api create` */
export function addApiCreate(parent: Command, terminal: Terminal): void {
  withJson(parent.command('create'))
    .description('Declare an API that tokens are issued for, and its scopes.')
    .requiredOption('--resource <uri>', 'its identifier, as clients ask for it and tokens name it')
    .option('--name <name>', 'its name, as the pages show it')
    .option(
      '--scope <name=sentence>',
      'a scope that needs a person\'s consent, and the sentence that the person reads: read="Read your projects"; repeat for more',
      parseScopeOf('users'),
      [],
    )
    .option(
      '--machine-scope <name=sentence>',
      'a scope that any registered client may also have by itself; repeat for more',
      parseScopeOf('users-and-machines'),
      [],
    )
    .action(async ({ resource, name, scope, machineScope, json }: Options) => {
      const scopes = [...scope, ...machineScope]
      const api = await inWorkshop((context) => createApi(context, { resource, name, scopes }))
      if (json) terminal.printJson(describeApi(api))
      else {
        const names = api.scopes.map((one) => one.name).join(', ')
        terminal.print([
          `Declared ${api.resource} ${names === '' ? 'without scopes' : `with ${names}`}.`,
          'Running servers know it within a second.',
        ])
      }
    })
}

function parseScopeOf(grantedTo: ApiScope['grantedTo']) {
  return (text: string, previous: readonly ApiScope[]): readonly ApiScope[] => {
    const [, name, sentence] = /^([^=]+)=(.*)$/s.exec(text) ?? []
    if (name === undefined || sentence === undefined || sentence.trim() === '') {
      throw new InvalidArgumentError('It is a name, "=", and the sentence that people read: read="Read your projects".')
    }
    return [...previous, { name, sentence, grantedTo }]
  }
}
