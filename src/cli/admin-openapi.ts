import type { Command } from 'commander'
import { describeTasks } from '../admin/openapi.ts'
import { VERSION } from '../server/server.ts'
import type { Terminal } from './terminal.ts'

/** `grantor admin openapi` */
export function addAdminOpenapi(parent: Command, terminal: Terminal): void {
  parent
    .command('openapi')
    .description('Print the description of the admin HTTP API, OpenAPI 3.1.')
    .action(() => terminal.printJson(describeTasks(VERSION)))
}
