import { chosenClientId } from '../../protocol/client/identifier.ts'
import { html } from '../../web/markup.ts'
import { listAddress, withScreens } from '../links.ts'
import { filterBar } from '../list.ts'
import { id, name } from '../parts.ts'
import { addressOf } from './addresses.ts'
import type { FilterUnresolved } from './filter-names.ts'
import type { Frame, View } from './form.ts'

/** What there was may have been deleted: the audit has its events. Not each role has the audit. */
export function absentView(frame: Frame, text: string): View {
  const title = 'There is nothing here'
  const object = Object.entries(frame.place.parameters).find(([one]) => one === 'user_id' || one === 'client_id')
  const [filter = '', given = ''] = object ?? []
  // By the id of its record a client is found however long ago it was deleted, and no other one has that as its name.
  const recordId = filter === 'client_id' ? (chosenClientId(given) ?? given) : given
  return {
    title,
    main: html`<div class="heading"><h1>${title}</h1></div>
      <p>${withScreens(frame, text)}</p>
      ${object !== undefined && frame.mayOpen('/console/audit') ? html`<p>If it was deleted, <a href="${listAddress('audit', filter, recordId)}">its events</a> are in the audit.</p>` : undefined}`,
  }
}

/** A form about an account that is out of reach. */
export function outOfReachView(frame: Frame, label: string): View {
  return {
    title: label,
    main: html`<div class="ask">
      <h1>${label}</h1>
      <p class="plate" role="alert">${frame.outOfReach}</p>
      <p><a class="button" href="${addressOf(frame, {})}">Back</a></p>
    </div>`,
  }
}

/** What the text of a filter may mean: a link for each. */
export function choicesView(frame: Frame, { message, filter, choices, isPart }: FilterUnresolved): View {
  const none = isPart ? 'Nothing was found so far' : 'Nothing was found'
  const title = choices.length === 0 ? none : 'Which one?'
  return {
    title,
    main: html`<div class="heading"><h1>${title}</h1></div>
      ${filterBar(frame)}
      <p>${message}${choices.length > 0 && isPart ? ' There may be more.' : ''}</p>
      ${
        choices.length === 0
          ? undefined
          : html`<ul class="plain">
              ${choices.map(
                ([object, called]) =>
                  html`<li>
                    <a href="${addressOf(frame, { [filter]: object, before: undefined })}"
                      >${name(called, '(no name)')}</a
                    >
                    ${id(object)}
                  </li>`,
              )}
            </ul>`
      }`,
  }
}

/** A filter that is not acceptable: the filters stay, to be corrected. */
export function refusedView(frame: Frame, text: string): View {
  const title = 'This filter is wrong'
  return {
    title,
    main: html`<div class="heading"><h1>${title}</h1></div>
      ${filterBar(frame)}
      <p class="error" role="alert">${text}</p>`,
  }
}
