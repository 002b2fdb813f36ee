import { choice, list, names, readOptions, whole } from '../../tools/options.ts'
import { beginSession } from '../../tools/process/session.ts'
import { proveProviders } from './providers.ts'
import { proveRegistrations } from './registrations.ts'

/** 100,000 registrations from 10,000 networks, or made-up codes at a provider. See docs/proofs.md. */

const { scenario, attackers, sites, seconds, latency, ...registrations } = readOptions({
  scenario: choice('what the flood is', ['registrations', 'providers']),
  registrations: whole('hostile registrations', 100_000, [1, 1e7]),
  networks: whole('networks that they come from', 10_000, [1, 655_360]),
  atOnce: whole('hostile registrations, or callbacks of each network, at a time', 32, [1, 1000]),
  quiet: whole('seconds that the token endpoint is measured before the flood', 10, [1, 600]),
  store: choice('the store', ['sqlite', 'postgres']),
  host: choice('with registrations, what they are sent to: the server, or the example of the library', [
    'server',
    'library',
  ]),
  attackers: list(whole('with providers, networks that make up codes, one flood after the other', 1, [1, 250]), '1,8'),
  sites: names(
    'with providers, floods of one IPv6 /48 with a random /64 for each request, whose browsers are',
    ['new', 'known'],
    'all',
  ),
  seconds: whole('with providers, seconds of each flood', 60, [1, 600]),
  latency: whole('with providers, milliseconds until the provider answers', 1000, [0, 4000]),
})

beginSession()
if (scenario === 'registrations') await proveRegistrations(registrations)
else {
  const { atOnce } = registrations
  for (const addresses of attackers)
    await proveProviders({ strangers: { from: { addresses }, areKnown: false }, seconds, latency, atOnce })
  for (const site of sites)
    await proveProviders({ strangers: { from: 'site', areKnown: site === 'known' }, seconds, latency, atOnce })
}
