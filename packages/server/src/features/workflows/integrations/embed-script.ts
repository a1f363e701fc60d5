/**
 * What a page runs to show an integration: a function of the settings that `snippet.ts` writes behind it. It waits for
 * the events of the data layer, checks the filters against the page, passes on what is asked for, and puts the content
 * in. The visitor is the one of the tracker's cookies (docs/interface.md, Names). A page without the place is left alone.
 */
export const embedScript = `(function (settings) {
  'use strict'
  var self = document.currentScript
  var page = new URL(location.href)
  var layer = (window.dataLayer = window.dataLayer || [])
  function cookie(name) {
    var found = document.cookie.split('; ').find(function (each) { return each.indexOf(name + '=') === 0 })
    return found && decodeURIComponent(found.slice(name.length + 1))
  }
  var user = page.searchParams.get('trk-u') || cookie('trk_clientId') || ''
  function valueOf(field) {
    if (field === 'url') return page.href
    if (field === 'trk-u') return user
    if (field === 'isLogged') return String(user !== '')
    return page.searchParams.get(field) || ''
  }
  var operators = {
    contains: function (value, values) { return values.some(function (each) { return value.indexOf(each) >= 0 }) },
    notcontains: function (value, values) { return !operators.contains(value, values) },
    eq: function (value, values) { return values.indexOf(value) >= 0 },
    ne: function (value, values) { return values.indexOf(value) < 0 },
    empty: function (value) { return value === '' },
    nempty: function (value) { return value !== '' }
  }
  function isWanted() {
    if (!settings.filters) return true
    function holds(condition) { return operators[condition.operator](valueOf(condition.field), condition.values) }
    var conditions = settings.filters.conditions
    return settings.filters.type === 'or' ? conditions.some(holds) : conditions.every(holds)
  }
  function inLayer(path) {
    for (var i = layer.length - 1; i >= 0; i--) {
      var value = path.split('.').reduce(function (each, key) { return each == null ? each : each[key] }, layer[i])
      if (value != null) return value
    }
  }
  function complete(address) {
    var url = new URL(address)
    function add(name, value) { if (value && !url.searchParams.has(name)) url.searchParams.set(name, value) }
    add('trk-u', user)
    add('trk-t', cookie('trk_tmpId'))
    add('trk-referer', page.href)
    if (settings.includeContext) page.searchParams.forEach(function (value, name) { if (name !== 'mode') add(name, value) })
    var paths = settings.includeDatalayerPath || []
    paths.forEach(function (path) {
      var value = inLayer(path)
      if (value != null && typeof value !== 'object') add(path.split('.').pop(), String(value))
    })
    return url.href
  }
  function put(place, content) {
    var host = document.createElement('div')
    host.attachShadow({ mode: 'open' }).append(content)
    if (place === self || settings.emplacement === 'before') place.before(host)
    else if (settings.emplacement === 'after') place.after(host)
    else place.replaceChildren(host)
    finish(place)
  }
  function finish(place, detail) {
    if (settings.code) {
      var script = document.createElement('script')
      script.textContent = settings.code
      document.head.append(script)
    }
    place.dispatchEvent(new CustomEvent('trk-content', { bubbles: true, detail: detail }))
  }
  function show() {
    var place = settings.selector ? document.querySelector(settings.selector) : self
    if (!place || place.hasAttribute('data-trk-shown') || !isWanted()) return
    place.setAttribute('data-trk-shown', '')
    var address = complete(settings.display)
    if (settings.kind === 'image') {
      var link = document.createElement('a')
      var image = document.createElement('img')
      link.href = complete(settings.click)
      image.src = address
      image.alt = ''
      link.append(image)
      return put(place, link)
    }
    fetch(address, { credentials: 'omit' }).then(function (reply) {
      if (reply.status !== 200) return
      if (settings.kind === 'json') return reply.json().then(function (content) { finish(place, content) })
      return reply.text().then(function (html) {
        put(place, document.createRange().createContextualFragment(html))
      })
    }).catch(function () {})
  }
  function begin() {
    var events = settings.waitForEvents || []
    function isAwaited(entry) { return entry && events.indexOf(entry.event) >= 0 }
    if (events.length === 0 || layer.some(isAwaited)) return show()
    var push = layer.push
    layer.push = function () {
      var result = push.apply(layer, arguments)
      if (Array.prototype.some.call(arguments, isAwaited)) {
        layer.push = push
        show()
      }
      return result
    }
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin)
  else begin()
})`
