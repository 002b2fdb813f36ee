import type { Command } from 'commander'
import { createUser, inventPassword } from '../admin/users.ts'
import { openServer, openWorld } from '../build.ts'
import { readConfig } from '../config.ts'
import type { Context } from '../ports/context.ts'
import { closeOnSignal } from './close-on-signal.ts'
import { settingsHelp } from './settings.ts'
import type { Terminal } from './terminal.ts'
import { DEMO_EMAIL, tryCommands, welcomeLines } from './welcome.ts'

/** `grantor serve` */
export function addServe(parent: Command, terminal: Terminal): void {
  parent
    .command('serve')
    .description('Start the server.')
    .option('--json', 'only JSON log lines on standard output, on a terminal too')
    .addHelpText('after', () => `\n${settingsHelp()}`)
    .action(async ({ json }: { readonly json?: true }) => {
      const config = readConfig()
      const world = openWorld(config)
      const server = await openServer(config, world)
      closeOnSignal(server, config.drainSeconds, process)
      await server.start()
      const { context } = server
      const hasUsers = (await context.store.listUsers({ before: undefined, limit: 1 })).length > 0
      if (terminal.isTerminal && json !== true) {
        const demo = config.isLoopbackIssuer && !hasUsers ? await createDemoUser(context) : undefined
        const hasApis = (await context.store.listApis()).length > 0
        const { issuer, version } = context
        const { isLoopbackIssuer } = config
        const { command } = terminal
        terminal.print(welcomeLines({ issuer, version, isLoopbackIssuer, hasApis, command, demo }, terminal.paint))
      }
      const isUntouched = !hasUsers && (await context.store.listClients({ before: undefined, limit: 1 })).length === 0
      world.logger.info({
        event: 'server.ready',
        issuer: context.issuer,
        version: context.version,
        ...(config.isLoopbackIssuer && isUntouched ? { try: tryCommands(context.issuer) } : {}),
      })
      world.logger.flush()
    })
}

/** Its password goes to the terminal and nowhere else. */
async function createDemoUser(context: Context): Promise<{ readonly email: string; readonly password: string }> {
  const password = inventPassword(context.random)
  const { email } = await createUser(context, { email: DEMO_EMAIL, password, name: 'Demo' })
  return { email, password }
}
