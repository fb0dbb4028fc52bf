vim9script
# The companion's page in a browser.

import autoload './session.vim'
import autoload './tell.vim'

# The companion makes a link that works once; a browser opens it, or the person does.
export def Open()
  session.Ask('outrigger/page', {}, (page) => Visit(page.url))
enddef

def Visit(url: string)
  const browsers = [get(g:, 'outrigger_browser', ''), 'xdg-open', 'open', 'explorer.exe']
    ->filter((_, name) => name != '' && executable(name) == 1)
  if empty(browsers)
    tell.Info(url)
  else
    job_start([browsers[0], url], {in_io: 'null', out_io: 'null', err_io: 'null', stoponexit: ''})
  endif
enddef
