/** The script of the console: counting a selection, copying, keys, and searching on. Each page works without it. */
export function consoleScript() {
  const all = (/** @type {string} */ selector) =>
    /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)])
  const one = (/** @type {string} */ selector) => all(selector)[0] ?? null

  const model = /** @type {HTMLTemplateElement | null} */ (one('template'))?.content.firstElementChild
  for (const place of all('.id')) {
    const button = /** @type {HTMLElement | undefined} */ (model?.cloneNode(true))
    if (button === undefined) continue
    button.dataset['copy'] = place.querySelector('code')?.title ?? ''
    place.append(button)
  }
  for (const button of all('[data-copy]')) {
    button.hidden = navigator.clipboard === undefined
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(button.dataset['copy'] ?? '').then(() => {
        button.setAttribute('aria-label', 'Copied')
        button.classList.add('copied')
      })
    })
  }

  const pick = one('.list thead .pick')
  const every = document.createElement('input')
  every.type = 'checkbox'
  every.setAttribute('aria-label', 'Choose all rows')
  const label = document.createElement('label')
  label.append(every)
  pick?.replaceChildren(label)
  every.addEventListener('change', () => {
    for (const box of /** @type {HTMLInputElement[]} */ (all('.list [name=row]'))) box.checked = every.checked
  })

  const count = one('[data-count]')
  const changes = all('.list .bar [name=task]')
  const say = () => {
    const boxes = /** @type {HTMLInputElement[]} */ (all('.list [name=row]'))
    const chosen = boxes.filter(({ checked }) => checked).length
    every.checked = chosen > 0 && chosen === boxes.length
    every.indeterminate = chosen > 0 && chosen < boxes.length
    if (count === null) return
    for (const change of changes) change.hidden = chosen === 0
    count.hidden = false
    count.classList.toggle('muted', chosen === 0)
    if (chosen === 0) {
      count.textContent = 'Choose rows to change them'
      return
    }
    count.textContent = `${chosen} selected`
  }
  one('.list')?.addEventListener('change', say)
  // The browser restores the boxes of a page to which the person goes back.
  addEventListener('pageshow', say)
  say()

  // What was done, and that the sign-in just ended, is not said again by a reload or to whom the address is sent.
  const here = new URL(location.href)
  for (const name of ['done', 'signed_in']) {
    if (!here.searchParams.has(name)) continue
    here.searchParams.delete(name)
    history.replaceState(null, '', here)
  }

  const KEYS = 'grantor-console-keys'
  const areOn = () => localStorage.getItem(KEYS) !== 'off'
  const help = /** @type {HTMLDialogElement | null} */ (one('[data-help]'))
  const toggle = /** @type {HTMLInputElement | null} */ (one('[data-keys-switch]'))
  const hint = one('[data-key]')
  const showKeys = () => {
    if (hint !== null) hint.hidden = !areOn()
    if (toggle !== null) toggle.checked = areOn()
  }
  showKeys()
  toggle?.addEventListener('change', () => {
    localStorage.setItem(KEYS, toggle.checked ? 'on' : 'off')
    showKeys()
  })
  for (const button of all('[data-show-help]')) {
    button.hidden = false
    button.addEventListener('click', () => help?.showModal())
  }

  const first = one('dialog div')
  for (const link of all('.side nav [data-go]').toReversed()) {
    const row = /** @type {HTMLElement} */ (first?.cloneNode(true))
    const [keys, what] = row.children
    const second = keys?.firstElementChild?.cloneNode()
    if (second !== undefined) keys?.append(' ', second)
    for (const [index, key] of [...(keys?.children ?? [])].entries())
      key.textContent = index === 0 ? 'g' : (link.dataset['go'] ?? '')
    if (what !== undefined) what.textContent = link.textContent
    first?.after(row)
  }

  let at = -1
  let isGoing = false
  const move = (/** @type {number} */ step) => {
    const rows = all('[data-row]')
    rows[at]?.classList.remove('at')
    at = Math.min(Math.max(at + step, 0), rows.length - 1)
    rows[at]?.classList.add('at')
    rows[at]?.scrollIntoView({ block: 'nearest' })
    const link = /** @type {HTMLElement | null | undefined} */ (rows[at]?.querySelector('a'))
    link?.focus({ preventScroll: true })
  }
  document.addEventListener('keydown', (event) => {
    const target = /** @type {HTMLElement} */ (event.target)
    if (event.ctrlKey || event.metaKey || event.altKey || help?.open === true || !areOn()) return
    if (/^(input|select|textarea)$/i.test(target.tagName) && target.getAttribute('type') !== 'checkbox') return
    const { key } = event
    if (isGoing) {
      isGoing = false
      one(`[data-go="${/^[a-z]$/.test(key) ? key : ''}"]`)?.click()
      return
    }
    switch (key) {
      case '/':
        event.preventDefault()
        one('[data-search]')?.focus()
        return
      case 'g':
        isGoing = true
        return
      case 'j':
      case 'k':
        move(key === 'j' ? 1 : -1)
        return
      case 'x': {
        /** @type {HTMLElement | null | undefined} */ const box = all('[data-row]')[at]?.querySelector('[name=row]')
        box?.click()
        return
      }
      case 'b':
        changes.find(({ hidden }) => !hidden)?.focus()
        return
      case '?':
        help?.showModal()
    }
  })

  /** Rows of a page. */
  const FULL = 50
  const stop = one('[data-stop]')
  const found = one('[data-found]')
  const searchOn = async () => {
    let isStopped = false
    if (stop === null || found === null) return
    stop.hidden = false
    stop.addEventListener('click', () => (isStopped = true))
    for (;;) {
      const link = /** @type {HTMLAnchorElement | null} */ (one('[data-continue]'))
      if (link === null || isStopped || all('[data-row]').length >= FULL) break
      found.textContent = `${all('[data-row]').length} found so far, searching…`
      const answer = await fetch(link.href)
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const pages = next.querySelector('.pages')
      if (isStopped || pages === null) break
      const days = all('[data-day]').map(({ dataset }) => dataset['day'])
      const more = [...next.querySelectorAll('[data-row], [data-day]')].filter(
        (row) => !days.includes(row.getAttribute('data-day') ?? ''),
      )
      const body = one('tbody, .feed')
      // Without a table there is nothing to keep.
      if (more.length > 0 && body === null) return location.replace(link.href)
      body?.append(...more)
      const last = pages.querySelector('a:last-child')
      if (/** @type {HTMLAnchorElement | null} */ (last)?.search.includes('before=')) link.replaceWith(last ?? '')
      else link.remove()
    }
    stop.hidden = true
    found.textContent = `${all('[data-row]').length} found${one('[data-continue]') === null ? '.' : ' so far.'}`
    say()
  }
  void searchOn()
}
