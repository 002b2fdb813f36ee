import type { ProviderTestDocument } from '../../../admin/provider/settings.ts'
import { html, type Markup } from '../../../web/markup.ts'
import { noIcon, yesIcon } from '../../icons.ts'
import { linkTo } from '../../links.ts'
import type { Frame, Members } from '../../engine/form.ts'

const CHECKS: Readonly<Record<string, string>> = {
  state: 'State',
  discovery: 'Metadata',
  keys: 'Keys',
  secret: 'Client id and secret',
  request: 'Redirect URI and scope',
  assertions: 'Identity assertions',
}

/** Why there is no answer, such as another test of the person at the same time. */
export function notTested(reason: string | undefined): Markup {
  return html`<section class="result" role="status" aria-label="Test of the connection">
    <header><h2>The connection was not tested</h2></header>
    <p>${reason} The page of the provider has the test.</p>
  </section>`
}

/** What the provider answered, and what it does not let be known. */
export function testResult(answer: Members, { mayWrite }: Frame): Markup {
  const { provider_id: provider, findings } = answer as unknown as ProviderTestDocument
  const ask = `${linkTo('providers', provider)}?ask=provider`
  const isOffered = findings.every(({ check, ok }) => check !== 'state' || ok)
  // A provider is tested before it is offered.
  const isOk = findings.every(({ check, ok }) => check === 'state' || ok)
  const hasMetadata = findings.every(({ check, ok }) => check !== 'discovery' || ok)
  const isAsked = findings.some(({ check }) => check === 'request')
  return html`<section class="result" role="status" aria-label="Test of the connection">
    <header><h2>${isOk ? 'The connection works' : 'The connection does not work'}</h2></header>
    <ul class="findings" role="list">
      ${findings.map(
        ({ check, ok, detail }) =>
          html`<li class="${ok ? 'ok' : 'failed'}">
            ${ok ? yesIcon : noIcon}
            <div>
              <p>${CHECKS[check] ?? check}</p>
              <p class="muted"><bdi>${detail}</bdi></p>
            </div>
          </li>`,
      )}
    </ul>
    ${
      isOk && !isOffered
        ? html`<div class="step">
            <p>It is disabled: the sign-in page does not offer it.</p>
            ${mayWrite ? html`<p class="actions"><a class="button" href="${ask}.enable">Enable…</a></p>` : undefined}
          </div>`
        : undefined
    }
    ${
      hasMetadata
        ? undefined
        : html`<p class="hint">
            A provider keeps its issuer. If that is wrong, delete the provider, and create it again.
          </p>`
    }
    ${
      isOk || !isOffered
        ? undefined
        : html`<div class="step">
            <p>The sign-in page offers the provider already. Disable it until it works, or change what is wrong.</p>
            ${mayWrite ? html`<p class="actions"><a class="button" href="${ask}.disable">Disable…</a> <a class="button" href="${ask}.update">Change…</a></p>` : undefined}
          </div>`
    }
    ${
      isOk && !isAsked
        ? html`<p class="hint">
            The provider says only to a person whether it knows the redirect URI: sign in there once.
          </p>`
        : undefined
    }
  </section>`
}
