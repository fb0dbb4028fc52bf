vim9script
# The companion's page in a browser.

import autoload './companion.vim'
import autoload './config.vim'
import autoload './message.vim'

# Asks the companion for a link, which works once, and opens it.
export def Open()
  companion.Request('outrigger/page', {}, (page) => Visit(page.url))
enddef

def Visit(url: string)
  const browsers = [config.Get('browser'), 'xdg-open', 'open', 'explorer.exe']
    ->filter((_, name) => name != '' && executable(name) == 1)
  if empty(browsers)
    message.Info('the page is at ' .. url)
  else
    job_start([browsers[0], url], {in_io: 'null', out_io: 'null', err_io: 'null', stoponexit: ''})
  endif
enddef
