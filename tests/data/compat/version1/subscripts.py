"""Elements of expressions, and what is no expression beside one."""

import classad


for text in ["{1,2}", '"abc"', '""', "5", "2.5", "true", "undefined", "error", "nosuch", 'strcat("a","b")', "1 + 1"]:
    tree = classad.ExprTree(text)
    for index in (0, -1):
        try:
            print(text, index, repr(tree[index]))
        except IndexError:
            print(text, index, "! IndexError")
        except TypeError as error:
            print(text, index, "!", type(error).__name__)
