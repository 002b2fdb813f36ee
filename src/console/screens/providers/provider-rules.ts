import { describeListing, type ProviderDocument } from '../../../admin/provider/settings.ts'
import { html, type Fragment } from '../../../web/markup.ts'

type Rules = Pick<
  ProviderDocument,
  | 'email_trust'
  | 'domains'
  | 'routing'
  | 'disabled_at'
  | 'listed'
  | 'sign_up'
  | 'link'
  | 'multi_factor'
  | 'organization_id'
  | 'membership'
>
type Row = readonly [who: string, what: Fragment]

/**
 * What the rules for accounts (docs/providers.md, L1 to L10) do with a person of a provider, by its settings. The first that fits decides.
 */
export function signInRules(provider: Rules): readonly Row[] {
  return [
    ['Comes to the sign-in page', describeListing(provider)],
    [
      'Was here before',
      rule(
        'L1, L2',
        'Signs in to the same account, whatever the address is now. Who has a disabled account is refused.',
      ),
    ],
    [
      'Comes from a link, or adds a way to sign in',
      rule('L3, L4', 'Is connected to the user of the link, or who is signed in, whatever the address is.'),
    ],
    ['Has the address of an account', withAccount(provider)],
    ['Has another address, or none that is proved', withoutAccount(provider)],
    ['Second factor', secondFactor(provider)],
    ...membership(provider),
    ...required(provider),
  ]
}

function rule(numbers: string, ...sentences: readonly string[]): Fragment {
  return html`${sentences.map((sentence) => html`<p>${sentence}</p>`)}
    <p class="muted">${numbers}</p>`
}

/** When the word of the provider proves an address. */
function proof({ email_trust: trust, domains }: Rules): string {
  switch (trust) {
    case 'none':
      return 'Nothing proves an address here, so an address finds no account (L8).'
    case 'claim':
      return 'An address counts if the provider says that it is verified, and if its domain belongs to no other provider. Otherwise it finds no account, and the person does not learn whether there is one (L8).'
    case 'domains':
      return domains.length === 0
        ? 'An address counts only if the provider says that it is verified, because the provider has no domains (L8).'
        : `An address of ${domains.join(', ')} counts, and so does one that the provider says is verified and whose domain belongs to no other provider. Others find no account (L8).`
  }
}

function withAccount(provider: Rules): Fragment {
  const { email_trust: trust, link, domains } = provider
  if (trust === 'none') return rule('L8', proof(provider))
  const own = domains.join(', ')
  const once = 'signs in to that account once, within ten minutes, and is connected then'
  const linking =
    link === 'verified-email'
      ? `Is connected at once, if the address is of ${own}, is verified in the account, and the account is connected to no other provider (L5). In any other case the person ${once} (L7).`
      : `The person ${once} (L7).`
  const takeover =
    domains.length === 0
      ? []
      : [
          `An account with an address of ${own} to which no user ever signed in is taken over: its password, memberships and grants end, because another person may have created it (L6).`,
        ]
  return rule(domains.length === 0 ? 'L7, L8' : 'L5 to L8', linking, ...takeover, proof(provider))
}

function withoutAccount({ sign_up: signUp, domains, email_trust: trust }: Rules): Fragment {
  switch (signUp) {
    case 'off':
      return rule('L10', 'Is refused. Create the account first, or hand over a link.')
    case 'domains':
      return trust === 'none'
        ? rule('L10', 'Is refused, because no address is proved here.')
        : rule(
            'L9, L10',
            `Gets an account, if the address is proved and of ${domains.join(', ')}. All others are refused.`,
          )
    case 'anybody':
      return rule('L9', 'Gets an account: with the address if it is proved, and without one otherwise.')
  }
}

function secondFactor({ multi_factor: isStrong }: Rules): string {
  return isStrong
    ? 'You say that the provider always asks for one, so none is asked for here.'
    : 'Is asked for here, if the account has one.'
}

function membership({ organization_id: organization, membership: rules, domains }: Rules): readonly Row[] {
  if (organization === null) return []
  const who = rules === 'anybody' ? 'Each person of the provider' : `Who has a proved address of ${domains.join(', ')}`
  return [['Organization', `${who} becomes a member at the sign-in.`]]
}

function required({ routing, domains }: Rules): readonly Row[] {
  if (routing !== 'required') return []
  return [
    [
      'Accounts of the domains',
      `An account with an address of ${domains.join(', ')} signs in here only, and has no password.`,
    ],
  ]
}
