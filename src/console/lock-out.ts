import { forShell } from '../base/shell.ts'
import { CONSOLE_CLIENT_ID } from '../protocol/client/console.ts'
import { openDomainRules, parseDomainPattern } from '../protocol/client/domain-rule.ts'

const OF_CLIENT: readonly string[] = [
  'client.disable',
  'client.delete',
  'client.revoke-tokens',
  'client.update',
  'client.set-rules',
  'client.set-keys',
]
const OF_ONESELF: readonly string[] = ['user.disable', 'user.delete', 'role.set', 'role.remove']

/** Why the console refuses a change that the command line can make: it would lock the person, or all, out (threats.md CON-20). */
export function lockOutBy(task: string, object: string, self: string): string | undefined {
  if (object === CONSOLE_CLIENT_ID && OF_CLIENT.includes(task))
    return `This is the client of the console: without it no person enters the console. On the machine of the server: grantor ${task.replace('.', ' ')} ${object}`
  if (object === self && OF_ONESELF.includes(task))
    return 'This is your own account. Another administrator can do it, or the command line.'
  return undefined
}

/** Whether bulk changes leave the object out: they change neither the client of the console nor the person's own account. */
export function isOwn(object: string, self: string): boolean {
  return object === CONSOLE_CLIENT_ID || object === self
}

/** Why the console does not block a domain: its own client sends people to this host, so none could sign in to it (threats.md CON-20). */
export function lockOutByDomain(task: string, text: string, consoleHost: string): string | undefined {
  const read = task === 'domain.block' ? parseDomainPattern(text, 'blocked') : undefined
  if (read?.kind !== 'pattern') return undefined
  const rules = openDomainRules([{ pattern: read.pattern, verdict: 'blocked' }])
  if (rules.ofHost(consoleHost) === undefined) return undefined
  return `The console is at ${consoleHost}, so no person could sign in to it. On the machine of the server: grantor domain block ${forShell(text)}`
}
