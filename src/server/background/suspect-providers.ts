import type { Context, StoreNeeds } from '../../ports/context.ts'
import { providerRedirectUri } from '../../protocol/sign-in/provider.ts'

type Needs = Pick<Context, 'issuer' | 'providerSignIn'> & StoreNeeds<'findProvider'>

const INTERVAL_MS = 5000

/** Starts to look whether providers answer whose sign-ins got no answer. Returns the function that stops it. */
export function startTryingProviders(context: Needs): () => Promise<void> {
  let trying = Promise.resolve()
  const timer = setInterval(() => {
    trying = trying.then(() => trySuspects(context)).catch(() => undefined)
  }, INTERVAL_MS).unref()
  return () => {
    clearInterval(timer)
    return trying
  }
}

/**
 * Tries the providers that are down, or may be. The server does it and not the browser of a person: one that asked all the time would be the
 * only one that is sent to the provider, and would keep it down for all others (threats.md UP-28), and one whose values make the provider
 * fail would switch it off (UP-30).
 */
export async function trySuspects({ issuer, store, providerSignIn }: Needs): Promise<void> {
  const providers = await Promise.all(providerSignIn.suspects().map((id) => store.findProvider(id)))
  await Promise.all(
    providers.map(async (provider) => {
      if (provider === undefined || provider.disabledAt !== undefined) return
      await providerSignIn.tryAgain(provider, providerRedirectUri(issuer, provider.id))
    }),
  )
}
