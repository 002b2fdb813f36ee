import type { DataPage, OverviewPage } from '../../ports/pages/account.ts'
import { submitButton, textField } from '../form-parts.ts'
import { tick } from '../icons.ts'
import type { View } from '../layout.ts'
import { html, isolate, type Markup } from '../markup.ts'
import { emailRows } from './email.ts'
import { accountForm, accountLayout } from './frame.ts'
import { fact, type Row, rowList } from './rows.ts'

/** Name, e-mail address and organizations. */
export function overviewPage(view: View, page: OverviewPage): Markup {
  const { texts } = view
  const { frame, problem } = page
  const name = textField({
    id: 'name',
    label: texts.show('account.name'),
    hint: texts.show('account.nameHint'),
    attributes: html`value="${page.name}" autocomplete="name" ${problem === undefined ? undefined : html`autofocus`}`,
    problem: problem === undefined ? undefined : texts.show('account.nameUnusable'),
  })
  return accountLayout(view, frame, 'overview', {
    hasProblem: problem !== undefined,
    main: html`${page.isNameEditable ? accountForm(frame.pages.overview, frame.csrf, {}, [name, submitButton(texts.show('account.save'), 'main')]) : undefined}
    ${rowList([
      ...(page.isNameEditable ? [] : [nameRow(view, page)]),
      ...emailRows(view, page),
      ...(page.organizations.length === 0 ? [] : [organizationsRow(view, page)]),
    ])}`,
  })
}

const KEPT = ['account', 'providers', 'organizations', 'apps', 'browsers', 'events'] as const

/** What is kept about the user, and the form that downloads it. */
export function dataPage(view: View, { frame }: DataPage): Markup {
  const { texts } = view
  return accountLayout(view, frame, 'data', {
    main: html`<section class="part" aria-labelledby="kept">
        <h2 id="kept">${texts.show('account.kept')}</h2>
        <ul class="scopes" role="list">
          ${KEPT.map(
            (item) =>
              html`<li>
                <span class="fixed">${tick}<span>${texts.show(`account.keptItems.${item}`)}</span></span>
              </li> `,
          )}
        </ul>
      </section>
      <p class="small muted after">${texts.show('account.keptLater')}</p>
      ${accountForm(frame.pages.data, frame.csrf, {}, submitButton(texts.show('account.download'), 'main'))}`,
  })
}

function nameRow({ texts }: View, { name }: OverviewPage): Row {
  return {
    heading: texts.show('account.name'),
    facts: [
      html`<p>${name === '' ? texts.show('account.noName') : isolate(name)}</p>`,
      fact(texts.show('account.nameOfApplication')),
    ],
    action: undefined,
  }
}

function organizationsRow({ texts }: View, { organizations }: OverviewPage): Row {
  return {
    heading: texts.show('account.organizations'),
    facts: organizations.map((one) => html`<p>${isolate(one)}</p>`),
    action: undefined,
  }
}
