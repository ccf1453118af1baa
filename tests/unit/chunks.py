"""Chunks of documents with the kind a reader would give them: (kind, heading, text)."""

from __future__ import annotations

Row = tuple[str, str | None, str]

# Written before the rules.
TABLE: tuple[Row, ...] = (
    (
        "legal_clause",
        "Section 4. Notices",
        (
            "Section 4. Notices\nAny notice under this Agreement shall be in writing and is deemed received two "
            "business days after posting."
        ),
    ),
    (
        "legal_clause",
        "12. Governing Law",
        (
            "12. Governing Law\nThis Agreement shall be governed by the laws of the State of New York, without "
            "regard to conflict of law rules."
        ),
    ),
    (
        "legal_clause",
        "ARTICLE VII",
        (
            "ARTICLE VII\nThe Lessee shall not assign this Lease or sublet the Premises without the prior written "
            "consent of the Lessor."
        ),
    ),
    (
        "legal_clause",
        "Limitation of Liability",
        (
            "Limitation of Liability\nIn no event shall either party be liable for indirect or consequential "
            "damages, even if advised of their possibility."
        ),
    ),
    (
        "legal_clause",
        None,
        (
            "The Supplier shall indemnify and hold harmless the Customer against all claims arising out of a "
            "breach of clause 8.2."
        ),
    ),
    (
        "legal_clause",
        "Clause 9",
        (
            "Clause 9. Either party may terminate this Agreement for convenience on ninety (90) days' written "
            "notice to the other party."
        ),
    ),
    (
        "legal_clause",
        "1. Definitions",
        (
            '1. Definitions\n"Confidential Information" means any information disclosed by one party to the '
            "other, whether orally or in writing."
        ),
    ),
    (
        "legal_clause",
        None,
        (
            "WHEREAS the Licensor owns certain patents, and WHEREAS the Licensee wishes to obtain a licence, "
            "NOW, THEREFORE, the parties agree as follows:"
        ),
    ),
    (
        "legal_clause",
        "Force Majeure",
        (
            "Force Majeure. Neither party is liable for a failure to perform caused by events beyond its "
            "reasonable control."
        ),
    ),
    (
        "legal_clause",
        "Schedule 2",
        (
            "Schedule 2\nThe Fees set out in this Schedule are exclusive of value added tax, which the Client "
            "shall pay in addition."
        ),
    ),
    (
        "legal_clause",
        "SECTION 10.3",
        (
            "SECTION 10.3 Severability. If any provision of this Agreement is held invalid, the remaining "
            "provisions remain in full force and effect."
        ),
    ),
    (
        "legal_clause",
        "Article 17",
        (
            "Article 17\nThe data subject shall have the right to obtain from the controller the erasure of "
            "personal data without undue delay."
        ),
    ),
    (
        "legal_clause",
        "Warranties",
        (
            "Warranties\nThe Seller represents and warrants that it has good title to the Goods, free of any lien "
            "or encumbrance."
        ),
    ),
    (
        "legal_clause",
        "§ 5",
        (
            "§ 5 The tenant must pay the rent by the third working day of the month. The landlord may charge "
            "interest on late payments."
        ),
    ),
    (
        "requirement",
        "Functional requirements",
        "Functional requirements\nThe system must let a user export all invoices of a year as one PDF file.",
    ),
    (
        "requirement",
        "REQ-014",
        (
            "REQ-014: The service shall answer 95 % of search requests within 200 ms under a load of 500 "
            "requests a second."
        ),
    ),
    (
        "requirement",
        None,
        "The mobile app should work offline and synchronise changes as soon as a connection is available.",
    ),
    (
        "requirement",
        "Acceptance criteria",
        (
            "Acceptance criteria\n- Given a locked account, when the user resets the password, then the account "
            "is unlocked.\n- An e-mail is sent."
        ),
    ),
    (
        "requirement",
        "User story",
        "As a warehouse manager, I want to scan pallets with my phone so that I do not have to type their numbers.",
    ),
    (
        "requirement",
        "Security",
        (
            "The API MUST reject requests without a valid token. Clients SHOULD retry with exponential backoff. "
            "Servers MAY close idle connections."
        ),
    ),
    (
        "requirement",
        None,
        "Users need to be able to filter the report by region and by product group.",
    ),
    (
        "requirement",
        "Non-functional requirements",
        (
            "Non-functional requirements\nAvailability of 99.9 % a month, measured at the load balancer. Recovery "
            "within four hours."
        ),
    ),
    (
        "requirement",
        "3.2 Logging",
        "3.2 Logging\nThe application is required to log every failed login with its time and source address.",
    ),
    (
        "requirement",
        None,
        "The importer has to accept files of up to 2 GB and must report the number of rows it rejected.",
    ),
    (
        "requirement",
        "Goals",
        "We require support for single sign-on through SAML 2.0, including provisioning of groups.",
    ),
    (
        "constraint",
        "Constraints",
        "Constraints\nThe budget is fixed at 40,000 euros and the release date cannot move past the first of October.",
    ),
    (
        "constraint",
        None,
        "Never deploy to production on a Friday, and do not restart the payment service between 8 and 18 o'clock.",
    ),
    (
        "constraint",
        "Limits",
        "Limits\nUploads are limited to 25 MB; at most ten files may be attached to a ticket.",
    ),
    (
        "constraint",
        None,
        "Only PostgreSQL 16 or later is supported. The library must not depend on any extension beside pgvector.",
    ),
    (
        "constraint",
        "Allergies",
        "The patient must not be given penicillin under any circumstances.",
    ),
    (
        "constraint",
        None,
        "Customer data may not leave the European Union. No exceptions are allowed.",
    ),
    (
        "constraint",
        "Rules of the repository",
        "You must not commit secrets. It is forbidden to push to main directly.",
    ),
    (
        "constraint",
        None,
        "The total weight must not exceed 23 kg per bag, and lithium batteries are prohibited in the hold.",
    ),
    (
        "constraint",
        "Compatibility",
        "We cannot use any library under the GPL, and no feature may require Java newer than 17.",
    ),
    (
        "constraint",
        "Rate limits",
        "Rate limits\nNo more than 60 requests per minute per key; a maximum of five connections at the same time.",
    ),
    (
        "constraint",
        None,
        "Access is restricted to members of the finance group. Guests are not permitted to download files.",
    ),
    (
        "decision",
        "Decision",
        "Decision\nWe will store events in PostgreSQL rather than Kafka, because the team already runs it.",
    ),
    (
        "decision",
        "0007 Use UUIDs",
        "Status: accepted\n\nWe decided to use UUID version 7 for all identifiers.",
    ),
    (
        "decision",
        None,
        "After a long discussion the board approved the merger with Halden Shipping on 4 March.",
    ),
    (
        "decision",
        "Minutes",
        "It was agreed that Maria takes over the onboarding project and that the launch moves to May.",
    ),
    (
        "decision",
        None,
        "**Decided.** The cache is written through, not behind; a lost write is worse than a slow one.",
    ),
    (
        "decision",
        "Outcome",
        "We chose React over Vue after comparing both, and went with Vite as the bundler.",
    ),
    (
        "decision",
        None,
        "The committee has resolved to reject the appeal. The vote was seven to two.",
    ),
    (
        "decision",
        "Resolution",
        "RESOLVED, that the treasurer is authorised to open an account at Nordbank.",
    ),
    (
        "decision",
        None,
        "We're going with option B: a monthly plan with no set-up fee. Option A was dropped.",
    ),
    (
        "decision",
        "Meeting notes",
        "Decision: keep the old API for another year. Owner: Tom.",
    ),
    (
        "decision",
        "Architecture",
        "The team has opted for a monolith and settled on Python 3.11. The decision was made on cost.",
    ),
    (
        "decision",
        "Conclusion",
        "Having weighed the alternatives, we have decided against a rewrite.",
    ),
    (
        "question",
        "Open questions",
        "Open questions\n- Who pays for the licences after the first year?\n- Do we need a second data centre?",
    ),
    (
        "question",
        None,
        "How should the system behave when two users edit the same page at once?",
    ),
    (
        "question",
        "FAQ",
        "What happens to my data when I cancel?",
    ),
    (
        "question",
        None,
        "Could you tell me whether the warranty covers water damage? And how long does a repair take?",
    ),
    (
        "question",
        None,
        "Is it possible to run the importer twice at the same time?",
    ),
    (
        "question",
        "Unresolved",
        "Should we shard by tenant or by region? What does it cost to change that later?",
    ),
    (
        "question",
        None,
        "Why does the second request take ten times as long as the first one?",
    ),
    (
        "question",
        "Questions for the vendor",
        "Which certifications do you hold? Where are the servers? When was the last audit?",
    ),
    (
        "question",
        None,
        "TBD: which team owns the billing cron job?",
    ),
    (
        "question",
        "Interview",
        "Q: When did you first notice that the numbers were wrong?",
    ),
    (
        "tool_result",
        None,
        "$ pytest -q\n....F..\n1 failed, 6 passed in 0.42s\n",
    ),
    (
        "tool_result",
        None,
        "Traceback (most recent call last):\n  File \"app.py\", line 12, in <module>\n    main()\nKeyError: 'user'",
    ),
    (
        "tool_result",
        None,
        'HTTP/1.1 404 Not Found\nContent-Type: application/json\nContent-Length: 27\n\n{"error": "no such order"}',
    ),
    (
        "tool_result",
        None,
        (
            "2026-03-01 12:00:01,123 INFO worker started\n2026-03-01 12:00:02,456 ERROR connection refused: "
            "db:5432\n2026-03-01 12:00:03,001 WARN retrying"
        ),
    ),
    (
        "tool_result",
        None,
        '{"tool": "get_weather", "output": {"temperature": 12, "unit": "C"}, "status": "ok"}',
    ),
    (
        "tool_result",
        None,
        "exit code: 1\nstdout:\n\nstderr:\nmake: *** [all] Error 2",
    ),
    (
        "tool_result",
        None,
        "total 24\ndrwxr-xr-x 2 root root 4096 Jan  1 10:00 bin\n-rw-r--r-- 1 root root  220 Jan  1 10:00 .bashrc",
    ),
    (
        "tool_result",
        None,
        " id | name  | total\n----+-------+------\n  1 | Anna  |    12\n  2 | Ben   |     7\n(2 rows)",
    ),
    (
        "tool_result",
        "Output",
        (
            "Output\nPING example.org (93.184.216.34): 56 data bytes\n64 bytes from 93.184.216.34: icmp_seq=0 "
            "ttl=56 time=11.6 ms"
        ),
    ),
    (
        "tool_result",
        None,
        "Query returned 3 rows in 12 ms.\nSeq Scan on orders  (cost=0.00..35.50 rows=2550 width=4)",
    ),
    (
        "tool_result",
        None,
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree",
    ),
    (
        "tool_result",
        None,
        '{"role": "tool", "tool_call_id": "call_7", "content": "42 files changed"}',
    ),
    (
        "instruction",
        "Installation",
        "Installation\n1. Download the archive.\n2. Unpack it to /opt.\n3. Run ./configure and make.",
    ),
    (
        "instruction",
        None,
        "Preheat the oven to 180 degrees. Mix flour and butter. Add the eggs one by one, then bake for 40 minutes.",
    ),
    (
        "instruction",
        "How to reset a password",
        "Open the settings, choose Security, click Reset and enter the code from the e-mail.",
    ),
    (
        "instruction",
        None,
        (
            "To restore a backup, first stop the server, then run `pg_restore -d shop backup.dump` and start the "
            "server again."
        ),
    ),
    (
        "instruction",
        "Getting started",
        "Install the package with pip, create a file named settings.toml and set the key DATABASE_URL.",
    ),
    (
        "instruction",
        "Steps",
        "Step 1: Turn off the mains. Step 2: Remove the cover. Step 3: Replace the fuse.",
    ),
    (
        "instruction",
        None,
        "Make sure that the valve is closed before you remove the hose. Use a 10 mm key.",
    ),
    (
        "instruction",
        "Code style",
        "Write docstrings in one sentence. Use plain names. Prefer pure functions. Run the linter before you commit.",
    ),
    (
        "instruction",
        "Prompt",
        "You are a helpful assistant. Answer in the language of the user. Always cite your sources.",
    ),
    (
        "instruction",
        "Usage",
        "- Press the button for three seconds.\n- Wait until the light is green.\n- Hold the phone near the reader.",
    ),
    (
        "instruction",
        None,
        "Click File > Export, select CSV and save the file on your desktop.",
    ),
    (
        "source_doc",
        None,
        "```python\ndef area(radius):\n    return 3.14159 * radius ** 2\n```",
    ),
    (
        "source_doc",
        "References",
        (
            "References\n[1] Codd, E. F. (1970). A relational model of data for large shared data banks. CACM "
            "13(6).\n[2] Gray, J. (1981)."
        ),
    ),
    (
        "source_doc",
        "Prices",
        "| product | price | stock |\n|---|---|---|\n| bolt | 0.12 | 400 |\n| nut | 0.08 | 900 |",
    ),
    (
        "source_doc",
        None,
        "def total(rows):\n    amount = 0\n    for row in rows:\n        amount += row.price\n    return amount\n",
    ),
    (
        "source_doc",
        None,
        "CREATE TABLE orders (\n  id bigint PRIMARY KEY,\n  placed_at timestamptz NOT NULL\n);",
    ),
    (
        "source_doc",
        None,
        "id,name,city\n1,Anna,Oslo\n2,Ben,Bergen\n3,Carl,Tromsø\n",
    ),
    (
        "source_doc",
        None,
        (
            '{"id": 17, "name": "Anna", "city": "Oslo", "tags": ["a", "b"]}\n{"id": 18, "name": "Ben", "city": '
            '"Rome", "tags": []}'
        ),
    ),
    (
        "source_doc",
        "Abstract",
        "Abstract. We study how caches of bounded size behave under skewed loads, and present a policy that adapts.",
    ),
    (
        "source_doc",
        None,
        '#include <stdio.h>\n\nint main(void) {\n    puts("hello");\n    return 0;\n}',
    ),
    (
        "source_doc",
        None,
        (
            "From: anna@example.org\nTo: ben@example.org\nSubject: Friday\nDate: Tue, 3 Mar 2026 10:00:00 "
            "+0100\n\nThe room is booked."
        ),
    ),
    (
        "source_doc",
        "Bibliography",
        "Bibliography\nKnuth, D. E., The Art of Computer Programming, Vol. 3, Addison-Wesley, 1973, pp. 391-430.",
    ),
    (
        "source_doc",
        "Settings",
        "[server]\nhost = 0.0.0.0\nport = 8080\n\n[log]\nlevel = info",
    ),
    (
        "background_context",
        "History",
        "History\nThe harbour was built in 1887 and enlarged twice. Today it handles mostly timber and grain.",
    ),
    (
        "background_context",
        None,
        "Anna grew up in Bergen, where her father repaired boats. She moved to Oslo to study.",
    ),
    (
        "background_context",
        "Overview",
        "Overview\nThe billing service reads orders from the queue, computes taxes and writes invoices.",
    ),
    (
        "background_context",
        None,
        "It was a bright cold morning, and the street was empty except for a man who sold chestnuts.",
    ),
    (
        "background_context",
        "Introduction",
        "Introduction\nThis guide describes the data model of the shop: customers, orders, payments and refunds.",
    ),
    (
        "background_context",
        None,
        "The company has 240 employees in four countries. Revenue grew by 8 % last year.",
    ),
    (
        "background_context",
        "About the team",
        "Our team maintains the search engine. Tom leads it; Mei and Ravi work on ranking.",
    ),
    (
        "background_context",
        None,
        "Photosynthesis turns light, water and carbon dioxide into sugar and oxygen. It happens in the chloroplasts.",
    ),
    (
        "background_context",
        "Summary",
        "The quarter was quiet. Sales were flat in the north and rose a little in the south.",
    ),
    (
        "background_context",
        None,
        (
            "Memories stand in one table; their words and vectors stand in tables of their own, so that they can "
            "be rebuilt."
        ),
    ),
    (
        "background_context",
        "Chapter 3",
        "Chapter 3\nThe old lighthouse keeper counted the ships every evening and wrote their names into a book.",
    ),
    (
        "background_context",
        None,
        "In 2019 the city closed the bridge for repairs, which took two years longer than planned.",
    ),
)

# Written after the rules, before they had seen it: 31 of 52 at first sight.
HELD_OUT: tuple[Row, ...] = (
    (
        "legal_clause",
        "14. Confidentiality",
        (
            "14. Confidentiality\nEach party shall keep the other party's information secret for five years after "
            "the end of this contract."
        ),
    ),
    (
        "legal_clause",
        None,
        (
            "The Borrower shall repay the principal in equal monthly instalments. Upon default the Lender may "
            "declare the whole sum due."
        ),
    ),
    (
        "legal_clause",
        "Article 6",
        "Article 6\nProcessing shall be lawful only if and to the extent that the person concerned has given consent.",
    ),
    (
        "legal_clause",
        "Section 2.1 Grant of Licence",
        "Section 2.1 Grant of Licence. The Licensor grants a non-exclusive, worldwide licence to use the Software.",
    ),
    (
        "legal_clause",
        None,
        (
            "This contract is made between Hansen AS, a company registered in Norway, and the employee named "
            "below, and takes effect on 1 June."
        ),
    ),
    (
        "legal_clause",
        "Clause 22 Entire agreement",
        (
            "Clause 22 Entire agreement\nThis document contains everything the parties have agreed and supersedes "
            "all earlier drafts."
        ),
    ),
    (
        "requirement",
        None,
        "The dashboard shall refresh every 30 seconds and shall show the last five alarms.",
    ),
    (
        "requirement",
        "Scope",
        (
            "Customers must be able to change their address without calling support. The change should be "
            "visible within a minute."
        ),
    ),
    (
        "requirement",
        "R-7 Search",
        "The search needs to tolerate one typing error per word and should rank exact hits first.",
    ),
    (
        "requirement",
        "Accessibility",
        "All pages have to meet WCAG 2.2 level AA. Every image needs a text alternative.",
    ),
    (
        "requirement",
        "Story 12",
        "As a parent I want to see my child's homework so that I can help with it.",
    ),
    (
        "requirement",
        "Product requirements",
        "A user signs in with an e-mail address. The session ends after 30 minutes without activity.",
    ),
    (
        "constraint",
        None,
        "Do not store card numbers. Access tokens must not be logged, not even at debug level.",
    ),
    (
        "constraint",
        "Technical constraints",
        "The device has 64 kB of memory and no file system.",
    ),
    (
        "constraint",
        None,
        "Passengers may carry no more than 100 ml of liquid in one container.",
    ),
    (
        "constraint",
        "Budget",
        "Spending is capped at 2,000 dollars a month. Anything above it is not allowed without the CFO.",
    ),
    (
        "constraint",
        None,
        "The module cannot import anything from the layer above it, and circular imports are forbidden.",
    ),
    (
        "constraint",
        "Diet",
        "Mr Olsen is allergic to nuts and must never be served shellfish.",
    ),
    (
        "decision",
        "ADR 12: Message format",
        "Context: two formats were in use.\nDecision: we use JSON everywhere.\nConsequences: XML readers are removed.",
    ),
    (
        "decision",
        None,
        "The council voted to close the school in the north. The building will be sold.",
    ),
    (
        "decision",
        "Notes of 3 May",
        "We agreed on a four-day week for the trial. HR will write the policy.",
    ),
    (
        "decision",
        None,
        "After the test we picked the smaller engine, since the larger one gained nothing.",
    ),
    (
        "decision",
        None,
        "Management has decided to postpone the move to the new office until spring.",
    ),
    (
        "decision",
        "Verdict",
        "The court ruled in favour of the plaintiff and dismissed the counterclaim.",
    ),
    (
        "question",
        None,
        "Do you know which plug is used in Denmark?",
    ),
    (
        "question",
        "Support request",
        "My order 4411 has not arrived. Where is it? Can I get my money back?",
    ),
    (
        "question",
        "Open points",
        "Who signs off the design? When do we freeze the texts?",
    ),
    (
        "question",
        None,
        "What is the difference between a process and a thread?",
    ),
    (
        "question",
        None,
        "I wonder whether we should keep both caches. What do you think?",
    ),
    (
        "tool_result",
        None,
        (
            "$ git status\nOn branch main\nYour branch is up to date with 'origin/main'.\n\nnothing to commit, "
            "working tree clean"
        ),
    ),
    (
        "tool_result",
        None,
        "src/app.ts(14,7): error TS2322: Type 'string' is not assignable to type 'number'.\nFound 1 error.",
    ),
    (
        "tool_result",
        None,
        "[12:04:11] Starting build\n[12:04:13] Compiled 48 modules\n[12:04:13] Build failed with 1 error",
    ),
    (
        "tool_result",
        None,
        (
            'java.lang.NullPointerException: Cannot invoke "String.length()"\n\tat '
            "com.shop.Cart.add(Cart.java:42)\n\tat com.shop.Main.main(Main.java:9)"
        ),
    ),
    (
        "tool_result",
        None,
        "CONTAINER ID   IMAGE      STATUS        PORTS\n3f1c2a9b7d10   redis:7    Up 2 hours    6379/tcp",
    ),
    (
        "tool_result",
        None,
        '{"status": 500, "error": "Internal Server Error", "path": "/orders", "timestamp": "2026-01-01T00:00:00Z"}',
    ),
    (
        "instruction",
        None,
        "Soak the beans overnight. Drain them, cover with fresh water and simmer for an hour.",
    ),
    (
        "instruction",
        "Connecting the printer",
        "1. Plug in the cable.\n2. Hold the Wi-Fi button until it blinks.\n3. Enter the PIN shown on the screen.",
    ),
    (
        "instruction",
        None,
        "When the alarm sounds, leave the building by the nearest exit and gather at the car park.",
    ),
    (
        "instruction",
        "Deploying",
        (
            "Tag the release, push the tag, and watch the pipeline. Roll back with `make rollback` if the health "
            "check fails."
        ),
    ),
    (
        "instruction",
        None,
        "Please reply to every ticket within a day. Greet the customer by name and thank them for their patience.",
    ),
    (
        "source_doc",
        None,
        (
            "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n        "
            "self.items.append(item)\n"
        ),
    ),
    (
        "source_doc",
        "Literature",
        (
            "Smith, J. and Doe, A. (2011). Notes on sorting. Journal of Algorithms, 12(3), 45-67.\nLee, K. "
            "(2015). Trees. Springer."
        ),
    ),
    (
        "source_doc",
        None,
        "date;amount;currency\n2026-01-02;12.50;EUR\n2026-01-03;99.00;EUR\n2026-01-05;7.20;USD",
    ),
    (
        "source_doc",
        "Table 3",
        "| year | births | deaths |\n|------|--------|--------|\n| 2020 | 312 | 290 |\n| 2021 | 305 | 301 |",
    ),
    (
        "source_doc",
        None,
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: shop\nspec:\n  ports:\n    - port: 80",
    ),
    (
        "source_doc",
        None,
        "func Sum(xs []int) int {\n\ttotal := 0\n\tfor _, x := range xs {\n\t\ttotal += x\n\t}\n\treturn total\n}",
    ),
    (
        "background_context",
        "The village",
        "The village lies in a narrow valley. Its church dates from the twelfth century, and the mill from 1640.",
    ),
    (
        "background_context",
        None,
        "Ravi has worked on compilers for ten years and lives in Pune with his family.",
    ),
    (
        "background_context",
        "How it works",
        (
            "The scheduler keeps a heap of timers. Every tick it pops those that are due and hands them to a "
            "pool of threads."
        ),
    ),
    (
        "background_context",
        None,
        '"I should have known," she said, and looked out of the window at the rain.',
    ),
    (
        "background_context",
        "Market",
        "Demand for electric bicycles doubled between 2018 and 2022, driven by subsidies and better batteries.",
    ),
    (
        "background_context",
        None,
        "The parser was rewritten in March. It is now twice as fast, and the error messages name the line.",
    ),
)

# Written after the rules had learnt from both: 25 of 33 at first sight.
UNSEEN: tuple[Row, ...] = (
    (
        "legal_clause",
        "7. Payment",
        (
            "7. Payment\nInvoices fall due thirty days after receipt. Late sums bear interest at four percent "
            "above the base rate."
        ),
    ),
    (
        "legal_clause",
        None,
        "The Contractor warrants that the works will be free from defects for a period of two years from handover.",
    ),
    (
        "legal_clause",
        "Article 3 Scope",
        "Article 3 Scope\nThis Regulation applies to the sale of goods by traders established in the Union.",
    ),
    (
        "legal_clause",
        "Arbitration",
        (
            "Any dispute arising out of or in connection with this contract shall be finally settled by "
            "arbitration in Zurich."
        ),
    ),
    (
        "requirement",
        None,
        "The scanner must read codes at a distance of two metres and should beep when it has read one.",
    ),
    (
        "requirement",
        "Requirements",
        "Requirements\n- export to Excel\n- dark mode\n- search by customer number",
    ),
    (
        "requirement",
        "FR-3",
        "The form shall keep what was typed when the browser is reloaded.",
    ),
    (
        "constraint",
        None,
        "Children under twelve are not allowed in the sauna, and glass bottles are prohibited.",
    ),
    (
        "constraint",
        "Restrictions",
        "Restrictions\nThe trial ends after 14 days. One licence per company.",
    ),
    (
        "constraint",
        None,
        "The script may not run longer than five minutes, and it cannot use the network.",
    ),
    (
        "decision",
        None,
        "The trustees unanimously approved the purchase of the land. Work begins in June.",
    ),
    (
        "decision",
        "Decision record",
        "We moved from REST to gRPC for calls between services. REST stays for customers.",
    ),
    (
        "decision",
        None,
        "In the end we settled on the blue logo. The red one looked too much like a warning.",
    ),
    (
        "question",
        None,
        "Has anybody tried the new release on Windows? Does the tray icon show up?",
    ),
    (
        "question",
        "Questions",
        "Questions\n1. Why did the pump fail?\n2. Who had serviced it?",
    ),
    (
        "question",
        None,
        "When is the last day to return the shoes?",
    ),
    (
        "tool_result",
        None,
        "$ ls\nMakefile  README.md  src  tests",
    ),
    (
        "tool_result",
        None,
        "warning: unused variable: `x`\n --> src/main.rs:4:9\nerror: aborting due to 1 previous error",
    ),
    (
        "tool_result",
        None,
        (
            "Jan 03 11:02:07 web1 sshd[411]: Failed password for root from 10.0.0.9 port 51122\nJan 03 11:02:09 "
            "web1 sshd[411]: Connection closed"
        ),
    ),
    (
        "tool_result",
        None,
        '{"result": [{"id": 4, "total": 12.5}], "elapsed_ms": 8}',
    ),
    (
        "instruction",
        None,
        "Whisk the egg whites until stiff. Gently lift in the sugar. Spoon the mass on a tray.",
    ),
    (
        "instruction",
        "Changing the filter",
        "Drain the tank, loosen both screws and lift the lid. Slide in the new filter with its arrow up.",
    ),
    (
        "instruction",
        "Tone",
        "Be brief and friendly. Never promise a refund. Escalate angry customers to a human.",
    ),
    (
        "instruction",
        None,
        "1. Charge the battery fully.\n2. Pair the headset with the phone.\n3. Adjust the band.",
    ),
    (
        "source_doc",
        None,
        'fn main() {\n    let x = 4;\n    println!("{}", x);\n}',
    ),
    (
        "source_doc",
        "Sales",
        "| region | units |\n|---|---|\n| north | 4 |\n| south | 9 |",
    ),
    (
        "source_doc",
        None,
        "name\tage\tcity\nAnna\t31\tOslo\nBen\t44\tRome",
    ),
    (
        "source_doc",
        None,
        "<invoice>\n  <number>17</number>\n  <total>99.50</total>\n</invoice>",
    ),
    (
        "background_context",
        "Our history",
        "Founded by two sisters in 1952, the bakery now has eleven shops and its own mill.",
    ),
    (
        "background_context",
        None,
        "Whales breathe air. They surface every few minutes, and some can dive for more than an hour.",
    ),
    (
        "background_context",
        "Architecture",
        "The gateway terminates TLS and forwards requests to one of six workers, which share a cache.",
    ),
    (
        "background_context",
        None,
        "He put the letter back in the drawer. Nobody had seen him, and the clock in the hall struck four.",
    ),
    (
        "background_context",
        None,
        "My grandmother taught me to knit when I was seven. I still have the first scarf.",
    ),
)
