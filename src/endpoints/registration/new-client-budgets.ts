import { SERVER_POOL } from '../../ports/budgets.ts'
import type { Context } from '../../ports/context.ts'
import { tooManyRequests } from '../../protocol/errors.ts'
import { writtenHost } from '../../protocol/uri/canonical-uri.ts'
import type { ClientMetadata } from '../../protocol/client/members.ts'
import { leadsToThisComputer } from '../../protocol/uri/loopback.ts'
import { isPrivateUse } from '../../protocol/uri/redirect-uri.ts'

/**
 * Takes a new client from the budgets of its redirect hosts and of the server, and returns the function that gives it back because
 * the client existed already.
 *
 * Loopback and private-use redirect URIs have no such budget: all apps of all users have the same, so that a few callers could lock
 * out every one of them (threats.md FLOOD-03).
 *
 * @throws OAuthError temporarily_unavailable
 */
export function takeNewClient(
  { budgets, clock }: Context,
  { redirect_uris: redirectUris }: Pick<ClientMetadata, 'redirect_uris'>,
  network: string,
): () => void {
  const now = clock()
  const hosts = redirectHosts(redirectUris)
  let taken = 0
  const giveBack = (): void => {
    for (const host of hosts.slice(0, taken)) budgets.giveBack('registration-host', host, now, network)
    if (taken > hosts.length) budgets.giveBack('registration-server', SERVER_POOL, now, network)
  }
  const take = (budget: 'registration-host' | 'registration-server', name: string): void => {
    const outcome = budgets.take(budget, name, now, network)
    if (outcome.isWithin) taken += 1
    else {
      giveBack()
      throw tooManyRequests(budget, outcome)
    }
  }
  for (const host of hosts) take('registration-host', host)
  take('registration-server', SERVER_POOL)
  return giveBack
}

function redirectHosts(redirectUris: readonly string[]): readonly string[] {
  const hosts: string[] = []
  for (const uri of redirectUris) {
    const { hostname: host } = writtenHost(uri)
    if (!isPrivateUse(uri) && !leadsToThisComputer(host) && !hosts.includes(host)) hosts.push(host)
  }
  return hosts
}
