"""The transform language: what a rule makes of an ad.

Pure. `source.py` takes a rule's text apart, `reader.py` carries its statements out, `old_form.py`
is the ClassAd form of rules and routes, `convert.py` writes old routes in the new language,
`configured.py` finds the rules that a configuration names.
"""
