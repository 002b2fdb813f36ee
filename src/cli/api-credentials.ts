import type { Command } from 'commander'
import { makeApiCredentials } from '../admin/api-credentials.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, subjectOf, withJson } from './verb.ts'

/** `grantor api credentials` */
export function addApiCredentials(parent: Command, terminal: Terminal): void {
  withJson(parent.command('credentials'))
    .description('Make the credentials with which an API asks about tokens; those that it had stop working.')
    .argument('[resource]', 'the API')
    .option('--resource <uri>', 'the same')
    .action(async (argument: string | undefined, options: { readonly resource?: string; readonly json?: true }) => {
      const subject = subjectOf('resource', argument, options.resource)
      const { resource, id, secret } = await inWorkshop((context) => makeApiCredentials(context, subject))
      if (options.json) terminal.printJson({ resource, id, secret })
      else {
        terminal.print([
          `${resource} asks at /v2/oauth/introspect by HTTP Basic:`,
          `  user      ${id}`,
          `  password  ${secret}`,
          'The password is not shown again. Running servers know it within a second.',
        ])
      }
    })
}
